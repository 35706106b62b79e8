// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of NsaCompress's tests.
#include "nsa_compress/forward/test_case.h"

#include "nsa_compress/forward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::nsa_compress::forward {
const std::vector<WindowCase>& Room::Cases() {
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

Problem::Problem(const WindowCase& shape, aclDataType dtype, const Fill& fill)
    : OperatorProblem(kApi, aclnnNsaCompress),
      x(PlaceTensor(fill.seed, dtype, {shape.tokens, shape.heads, shape.width}, fill.strided,
                    fill.repeats)),
      w(PlaceTensor(fill.seed + 1, dtype, {shape.block, shape.heads}, fill.strided, fill.repeats)),
      y(PlaceTensor(fill.seed + 2, dtype,
                    {static_cast<int64_t>(WindowStarts(shape).size()), shape.heads, shape.width},
                    fill.strided, false)),
      case_(shape),
      starts_(WindowStarts(shape)) {
  Random random(fill.seed);
  for (DeviceTensor* tensor : {&x, &w}) {
    Set(tensor, RandomValues(random, tensor->layout().count(), fill.values));
  }
}

std::vector<CallOperand> Problem::operands() const {
  return {{"input", 0, &x}, {"weight", 1, &w}, {"output", 2, &y, CallOperand::kOutput}};
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

testing::AssertionResult Problem::OutputsAreRight() const {
  namespace room = openaclnn::nsa_compress::forward;
  const room::ReferenceSizes sizes = {case_.heads, case_.width, case_.block,
                                      static_cast<int64_t>(starts_.size())};
  const std::vector<double> x_values = ValuesOf(x), w_values = ValuesOf(w);
  ReferenceSums sums = ZeroSums(y, case_.block);
  room::Reference(sizes, starts_.data(), x_values.data(), w_values.data(), sums.value.data());
  room::Reference(sizes, starts_.data(), Magnitudes(x_values).data(), Magnitudes(w_values).data(),
                  sums.magnitude.data());
  return AreWithin(y.dtype(), ValuesOf(y), sums);
}

}  // namespace openaclnn::test::nsa_compress::forward
