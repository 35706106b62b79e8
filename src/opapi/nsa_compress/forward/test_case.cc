// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of NsaCompress's tests.
#include "nsa_compress/forward/test_case.h"

#include <cmath>

#include "nsa_compress/forward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::nsa_compress::forward {
namespace {

int64_t WindowsOf(const WindowCase& shape) {
  return static_cast<int64_t>(WindowStarts(shape).size());
}

}  // namespace

const std::vector<WindowCase>& Cases() {
  static const std::vector<WindowCase> cases = {
#include "nsa_compress/forward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle input(spec.input), weight(spec.weight), output(spec.output);
  const IntListHandle list(spec.list);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnNsaCompressGetWorkspaceSize(
        input.get(), weight.get(), list.get(), const_cast<char*>(spec.layout), spec.block,
        spec.stride, spec.type, output.get(), spec.null_workspace_size ? nullptr : workspace_size,
        spec.null_executor ? nullptr : executor);
  });
}

Problem::Problem(const WindowCase& shape, aclDataType dtype, const Options& options)
    : x(PlaceTensor(options.seed, dtype, {shape.tokens, shape.heads, shape.width}, options.strided,
                    true)),
      w(PlaceTensor(options.seed + 1, dtype, {shape.block, shape.heads}, options.strided, true)),
      y(PlaceTensor(options.seed + 2, dtype, {WindowsOf(shape), shape.heads, shape.width},
                    options.strided, false)),
      case_(shape) {
  Random random(options.seed);
  for (DeviceTensor* tensor : {&x, &w}) {
    Set(tensor, RandomValues(random, tensor->layout().count(), options.values));
  }
}

void Problem::Set(DeviceTensor* tensor, const std::vector<double>& values) {
  tensor->Write(ToBytes(tensor->dtype(), values));
}

Planned Problem::Plan() const {
  // An empty list stands for one segment, as null does for the gradient.
  const IntListHandle list({case_.ends, IntListSpec::kList});
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnNsaCompressGetWorkspaceSize(x.handle(), w.handle(), list.get(), nullptr,
                                            case_.block, case_.stride, 0, y.handle(),
                                            workspace_size, executor);
  });
}

Outcome Problem::Run(const Device& device) const {
  return Execute(device, Plan(), aclnnNsaCompress);
}

ReferenceSums Problem::Reference() const {
  namespace room = openaclnn::nsa_compress::forward;
  const std::vector<int64_t> starts = WindowStarts(case_);
  const room::ReferenceSizes sizes = {case_.heads, case_.width, case_.block, WindowsOf(case_)};
  std::vector<double> x_values = ToDoubles(x.dtype(), x.Read());
  std::vector<double> w_values = ToDoubles(w.dtype(), w.Read());
  const auto count = static_cast<size_t>(y.layout().count());
  ReferenceSums sums{std::vector<double>(count), std::vector<double>(count),
                     std::vector<int64_t>(count, case_.block)};
  room::Reference(sizes, starts.data(), x_values.data(), w_values.data(), sums.value.data());
  for (std::vector<double>* values : {&x_values, &w_values}) {
    for (double& value : *values) value = std::abs(value);
  }
  room::Reference(sizes, starts.data(), x_values.data(), w_values.data(), sums.magnitude.data());
  return sums;
}

testing::AssertionResult Problem::IsRight() const {
  for (const DeviceTensor* input : {&x, &w}) {
    if (const std::string change = input->Change(); !change.empty()) {
      return testing::AssertionFailure() << "an input was written: " << change;
    }
  }
  if (const std::string damage = y.Damage(); !damage.empty()) {
    return testing::AssertionFailure() << "beside output: " << damage;
  }
  return AreWithin(y.dtype(), ToDoubles(y.dtype(), y.Read()), Reference());
}

int64_t LeastBytes(const WindowCase& shape) {
  return 2 * (shape.heads * shape.width * (shape.tokens + WindowsOf(shape)) +
              shape.block * shape.heads);
}

}  // namespace openaclnn::test::nsa_compress::forward
