// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of ConvTbcBackward's tests.
#include "conv_tbc/backward/test_case.h"

#include "conv_tbc/backward/reference.h"

namespace openaclnn::test::conv_tbc::backward {
const std::vector<ConvCase>& Room::Cases() {
  static const std::vector<ConvCase> cases = {
#include "conv_tbc/backward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle self(spec.self), input(spec.input), weight(spec.weight), bias(spec.bias);
  const TensorHandle grad_input(spec.grad_input), grad_weight(spec.grad_weight);
  const TensorHandle grad_bias(spec.grad_bias);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnConvTbcBackwardGetWorkspaceSize(
        self.get(), input.get(), weight.get(), bias.get(), spec.pad, spec.math, grad_input.get(),
        grad_weight.get(), grad_bias.get(), spec.null_workspace_size ? nullptr : workspace_size,
        spec.null_executor ? nullptr : executor);
  });
}

Problem::Problem(const ConvCase& shape, aclDataType dtype, const Fill& fill, int8_t math,
                 Family family)
    : OperatorProblem(kApi, aclnnConvTbcBackward),
      dy(PlaceTensor(fill.seed, dtype, shape.output(), fill.strided, fill.repeats)),
      x(PlaceTensor(fill.seed + 1, dtype, shape.input(), fill.strided, fill.repeats)),
      w(PlaceTensor(fill.seed + 2, dtype, shape.weight(), fill.strided, fill.repeats)),
      bias(PlaceTensor(fill.seed + 3, dtype, {shape.out_channels}, fill.strided, fill.repeats)),
      dx(PlaceTensor(fill.seed + 4, dtype, shape.input(), fill.strided, false)),
      dw(PlaceTensor(fill.seed + 5, dtype, shape.weight(), fill.strided, false)),
      db(PlaceTensor(fill.seed + 6, dtype, {shape.out_channels}, fill.strided, false)),
      case_(shape),
      math_(math),
      family_(family) {
  Random random(fill.seed);
  for (DeviceTensor* tensor : {&dy, &x, &w}) {
    Set(tensor, RandomValues(random, tensor->layout().count(), fill.values));
  }
}

std::vector<CallOperand> Problem::operands() const {
  return {{"self", 0, &dy},
          {"input", 1, &x},
          {"weight", 2, &w},
          {"bias", 3, &bias, CallOperand::kUnread},
          {"gradInput", 4, &dx, CallOperand::kOutput},
          {"gradWeight", 5, &dw, CallOperand::kOutput},
          {"gradBias", 6, &db, CallOperand::kOutput}};
}

Planned Problem::Plan() const {
  const auto out = [](const DeviceTensor& tensor) {
    return const_cast<aclTensor*>(tensor.handle());
  };
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnConvTbcBackwardGetWorkspaceSize(dy.handle(), x.handle(), w.handle(), bias.handle(),
                                                case_.pad, math_, out(dx), out(dw), out(db),
                                                workspace_size, executor);
  });
}

testing::AssertionResult Problem::OutputsAreRight() const {
  namespace room = openaclnn::conv_tbc::backward;
  const room::ReferenceSizes sizes = {case_.in_length,    case_.batch, case_.in_channels,
                                      case_.out_channels, case_.taps,  case_.pad};
  const Computed how = HowComputed(family_, x.dtype(), math_);
  const std::vector<double> stored = ValuesOf(dy), dy_values = Rounded(stored, how);
  const std::vector<double> x_values = Rounded(ValuesOf(x), how);
  const std::vector<double> w_values = Rounded(ValuesOf(w), how);
  const std::vector<double> dy_sizes = Magnitudes(dy_values);
  const int64_t rows = case_.out_length() * case_.batch;
  ReferenceSums of_dx = ZeroSums(dx, case_.taps * case_.out_channels);
  room::ReferenceInput(sizes, dy_values.data(), w_values.data(), of_dx.value.data());
  room::ReferenceInput(sizes, dy_sizes.data(), Magnitudes(w_values).data(), of_dx.magnitude.data());
  ReferenceSums of_dw = ZeroSums(dw, rows);
  room::ReferenceWeight(sizes, dy_values.data(), x_values.data(), of_dw.value.data());
  room::ReferenceWeight(sizes, dy_sizes.data(), Magnitudes(x_values).data(),
                        of_dw.magnitude.data());
  // Sums the stored values, even if the products see rounded ones.
  ReferenceSums of_db = ZeroSums(db, rows);
  room::ReferenceBias(sizes, stored.data(), of_db.value.data());
  room::ReferenceBias(sizes, Magnitudes(stored).data(), of_db.magnitude.data());
  for (const auto& [output, sums] :
       {std::pair(&dx, &of_dx), std::pair(&dw, &of_dw), std::pair(&db, &of_db)}) {
    const testing::AssertionResult right = AreWithin(output->dtype(), ValuesOf(*output), *sums);
    if (!right) {
      return testing::AssertionFailure() << (output == &dx   ? "gradInput: "
                                             : output == &dw ? "gradWeight: "
                                                             : "gradBias: ")
                                         << right.message();
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace openaclnn::test::conv_tbc::backward
