// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of ConvTbc's tests.
#include "conv_tbc/forward/test_case.h"

#include "conv_tbc/forward/reference.h"

namespace openaclnn::test::conv_tbc::forward {
namespace {

Planned PlanWith(const aclTensor* self, const aclTensor* weight, const aclTensor* bias, int64_t pad,
                 aclTensor* out, int8_t math, bool null_workspace_size, bool null_executor) {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnConvTbcGetWorkspaceSize(self, weight, bias, pad, out, math,
                                        null_workspace_size ? nullptr : workspace_size,
                                        null_executor ? nullptr : executor);
  });
}

}  // namespace

const std::vector<ConvCase>& Room::Cases() {
  static const std::vector<ConvCase> cases = {
#include "conv_tbc/forward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle self(spec.self), weight(spec.weight), bias(spec.bias), out(spec.out);
  return PlanWith(self.get(), weight.get(), bias.get(), spec.pad, out.get(), spec.math,
                  spec.null_workspace_size, spec.null_executor);
}

Problem::Problem(const ConvCase& shape, aclDataType dtype, const Fill& fill, int8_t math,
                 Family family)
    : OperatorProblem(kApi, aclnnConvTbc),
      x(PlaceTensor(fill.seed, dtype, shape.input(), fill.strided, fill.repeats)),
      w(PlaceTensor(fill.seed + 1, dtype, shape.weight(), fill.strided, fill.repeats)),
      bias(PlaceTensor(fill.seed + 2, dtype, {shape.out_channels}, fill.strided, fill.repeats)),
      y(PlaceTensor(fill.seed + 3, dtype, shape.output(), fill.strided, false)),
      case_(shape),
      math_(math),
      family_(family) {
  Random random(fill.seed);
  for (DeviceTensor* tensor : {&x, &w, &bias}) {
    Set(tensor, RandomValues(random, tensor->layout().count(), fill.values));
  }
}

std::vector<CallOperand> Problem::operands() const {
  return {
      {"self", 0, &x}, {"weight", 1, &w}, {"bias", 2, &bias}, {"out", 3, &y, CallOperand::kOutput}};
}

Planned Problem::Plan() const {
  return PlanWith(x.handle(), w.handle(), bias.handle(), case_.pad,
                  const_cast<aclTensor*>(y.handle()), math_, false, false);
}

testing::AssertionResult Problem::OutputsAreRight() const {
  namespace room = openaclnn::conv_tbc::forward;
  const room::ReferenceSizes sizes = {case_.in_length,    case_.batch, case_.in_channels,
                                      case_.out_channels, case_.taps,  case_.pad};
  const Computed how = HowComputed(family_, x.dtype(), math_);
  const std::vector<double> x_values = Rounded(ValuesOf(x), how);
  const std::vector<double> w_values = Rounded(ValuesOf(w), how);
  const std::vector<double> bias_values = ValuesOf(bias);
  ReferenceSums sums = ZeroSums(y, case_.taps * case_.in_channels + 1);
  room::Reference(sizes, x_values.data(), w_values.data(), bias_values.data(), sums.value.data());
  room::Reference(sizes, Magnitudes(x_values).data(), Magnitudes(w_values).data(),
                  Magnitudes(bias_values).data(), sums.magnitude.data());
  return AreWithin(y.dtype(), ValuesOf(y), sums);
}

}  // namespace openaclnn::test::conv_tbc::forward
