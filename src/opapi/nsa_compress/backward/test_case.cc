// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of NsaCompressGrad's tests.
#include "nsa_compress/backward/test_case.h"

#include <algorithm>
#include <cmath>

#include "nsa_compress/backward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::nsa_compress::backward {
namespace {

namespace room = openaclnn::nsa_compress::backward;

std::vector<double> Magnitudes(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

std::vector<double> ValuesOf(const DeviceTensor& tensor) {
  return ToDoubles(tensor.dtype(), tensor.Read());
}

}  // namespace

const std::vector<WindowCase>& Cases() {
  static const std::vector<WindowCase> cases = {
#include "nsa_compress/backward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle output_grad(spec.output_grad), input(spec.input), weight(spec.weight);
  const TensorHandle input_grad(spec.input_grad), weight_grad(spec.weight_grad);
  const IntListHandle list(spec.list);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnNsaCompressGradGetWorkspaceSize(
        output_grad.get(), input.get(), weight.get(), list.get(), spec.block, spec.stride,
        spec.type, const_cast<char*>(spec.layout), input_grad.get(), weight_grad.get(),
        spec.null_workspace_size ? nullptr : workspace_size,
        spec.null_executor ? nullptr : executor);
  });
}

Problem::Problem(const WindowCase& shape, aclDataType dtype, const Options& options)
    : dy(PlaceTensor(options.seed, dtype,
                     {static_cast<int64_t>(WindowStarts(shape).size()), shape.heads, shape.width},
                     options.strided, true)),
      x(PlaceTensor(options.seed + 1, dtype, {shape.tokens, shape.heads, shape.width},
                    options.strided, true)),
      w(PlaceTensor(options.seed + 2, dtype, {shape.block, shape.heads}, options.strided, true)),
      dx(PlaceTensor(options.seed + 3, dtype, {shape.tokens, shape.heads, shape.width},
                     options.strided, false)),
      dw(PlaceTensor(options.seed + 4, dtype, {shape.block, shape.heads}, options.strided, false)),
      case_(shape),
      starts_(WindowStarts(shape)) {
  Random random(options.seed);
  for (DeviceTensor* tensor : {&dy, &x, &w}) {
    Set(tensor, RandomValues(random, tensor->layout().count(), options.values));
  }
}

void Problem::Set(DeviceTensor* tensor, const std::vector<double>& values) {
  tensor->Write(ToBytes(tensor->dtype(), values));
}

Planned Problem::Plan() const {
  const IntListHandle list(ListOf(case_));
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnNsaCompressGradGetWorkspaceSize(dy.handle(), x.handle(), w.handle(), list.get(),
                                                case_.block, case_.stride, 0, nullptr, dx.handle(),
                                                dw.handle(), workspace_size, executor);
  });
}

Outcome Problem::Run(const Device& device) const {
  return Execute(device, Plan(), aclnnNsaCompressGrad);
}

Problem::Sums Problem::Reference() const {
  const auto windows = static_cast<int64_t>(starts_.size());
  const room::ReferenceSizes sizes = {case_.tokens, case_.heads, case_.width, case_.block, windows};
  const auto dx_count = static_cast<size_t>(dx.layout().count());
  const auto dw_count = static_cast<size_t>(dw.layout().count());
  Sums sums;
  for (ReferenceSums* each : {&sums.dx, &sums.dw}) {
    const size_t count = each == &sums.dx ? dx_count : dw_count;
    each->value.resize(count);
    each->magnitude.resize(count);
    each->terms.assign(count, each == &sums.dx ? 0 : windows * case_.width);
  }
  const std::vector<double> dy_values = ValuesOf(dy), x_values = ValuesOf(x),
                            w_values = ValuesOf(w);
  room::Reference(sizes, starts_.data(), dy_values.data(), x_values.data(), w_values.data(),
                  sums.dx.value.data(), sums.dw.value.data());
  room::Reference(sizes, starts_.data(), Magnitudes(dy_values).data(), Magnitudes(x_values).data(),
                  Magnitudes(w_values).data(), sums.dx.magnitude.data(), sums.dw.magnitude.data());
  const int64_t row = case_.heads * case_.width;
  for (const int64_t start : starts_) {
    const auto first = sums.dx.terms.begin() + start * row;
    std::for_each(first, first + case_.block * row, [](int64_t& terms) { ++terms; });
  }
  return sums;
}

testing::AssertionResult Problem::IsRight() const {
  for (const DeviceTensor* input : {&dy, &x, &w}) {
    if (const std::string change = input->Change(); !change.empty()) {
      return testing::AssertionFailure() << "an input was written: " << change;
    }
  }
  for (const DeviceTensor* output : {&dx, &dw}) {
    if (const std::string damage = output->Damage(); !damage.empty()) {
      return testing::AssertionFailure() << "beside an output: " << damage;
    }
  }
  const Sums sums = Reference();
  const std::vector<double> got = ValuesOf(dx);
  for (size_t i = 0; i < got.size(); ++i) {
    if (sums.dx.terms[i] == 0 && (got[i] != 0 || std::signbit(got[i]))) {
      return testing::AssertionFailure() << "element " << i << " under no window is not +0";
    }
  }
  const testing::AssertionResult right = AreWithin(dx.dtype(), got, sums.dx);
  if (!right) return testing::AssertionFailure() << "inputGradOut: " << right.message();
  return AreWithin(dw.dtype(), ValuesOf(dw), sums.dw) << "weightGradOut";
}

int64_t LeastBytes(const WindowCase& shape) {
  const auto windows = static_cast<int64_t>(WindowStarts(shape).size());
  return 2 *
         (shape.heads * shape.width * (windows + 2 * shape.tokens) + 2 * shape.block * shape.heads);
}

}  // namespace openaclnn::test::nsa_compress::backward
