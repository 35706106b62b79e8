// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of NsaCompressGrad's tests.
#include "nsa_compress/backward/test_case.h"

#include <algorithm>

#include "nsa_compress/backward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::nsa_compress::backward {
namespace room = openaclnn::nsa_compress::backward;

const std::vector<WindowCase>& Room::Cases() {
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

Problem::Problem(const WindowCase& shape, aclDataType dtype, const Fill& fill)
    : OperatorProblem(kApi, aclnnNsaCompressGrad),
      dy(PlaceTensor(fill.seed, dtype,
                     {static_cast<int64_t>(WindowStarts(shape).size()), shape.heads, shape.width},
                     fill.strided, fill.repeats)),
      x(PlaceTensor(fill.seed + 1, dtype, {shape.tokens, shape.heads, shape.width}, fill.strided,
                    fill.repeats)),
      w(PlaceTensor(fill.seed + 2, dtype, {shape.block, shape.heads}, fill.strided, fill.repeats)),
      dx(PlaceTensor(fill.seed + 3, dtype, {shape.tokens, shape.heads, shape.width}, fill.strided,
                     false)),
      dw(PlaceTensor(fill.seed + 4, dtype, {shape.block, shape.heads}, fill.strided, false)),
      case_(shape),
      starts_(WindowStarts(shape)) {
  Random random(fill.seed);
  for (DeviceTensor* tensor : {&dy, &x, &w}) {
    Set(tensor, RandomValues(random, tensor->layout().count(), fill.values));
  }
}

std::vector<CallOperand> Problem::operands() const {
  return {{"outputGrad", 0, &dy},
          {"input", 1, &x},
          {"weight", 2, &w},
          {"inputGradOut", 3, &dx, CallOperand::kOutput},
          {"weightGradOut", 4, &dw, CallOperand::kOutput}};
}

Planned Problem::Plan() const {
  const IntListHandle list(ListOf(case_));
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnNsaCompressGradGetWorkspaceSize(dy.handle(), x.handle(), w.handle(), list.get(),
                                                case_.block, case_.stride, 0, nullptr, dx.handle(),
                                                dw.handle(), workspace_size, executor);
  });
}

testing::AssertionResult Problem::OutputsAreRight() const {
  const auto windows = static_cast<int64_t>(starts_.size());
  const room::ReferenceSizes sizes = {case_.tokens, case_.heads, case_.width, case_.block, windows};
  const std::vector<double> dy_values = ValuesOf(dy), x_values = ValuesOf(x);
  const std::vector<double> w_values = ValuesOf(w);
  ReferenceSums of_dx = ZeroSums(dx, 0), of_dw = ZeroSums(dw, windows * case_.width);
  room::Reference(sizes, starts_.data(), dy_values.data(), x_values.data(), w_values.data(),
                  of_dx.value.data(), of_dw.value.data());
  room::Reference(sizes, starts_.data(), Magnitudes(dy_values).data(), Magnitudes(x_values).data(),
                  Magnitudes(w_values).data(), of_dx.magnitude.data(), of_dw.magnitude.data());
  const int64_t row = case_.heads * case_.width;
  for (const int64_t start : starts_) {
    const auto first = of_dx.terms.begin() + start * row;
    std::for_each(first, first + case_.block * row, [](int64_t& terms) { ++terms; });
  }
  const testing::AssertionResult right = AreSums(dx, of_dx);
  if (!right) return testing::AssertionFailure() << "inputGradOut: " << right.message();
  return AreWithin(dw.dtype(), ValuesOf(dw), of_dw) << "weightGradOut";
}

}  // namespace openaclnn::test::nsa_compress::backward
