// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of ScaledMaskedSoftmaxBackward's tests.
#include "masked_softmax/backward/test_case.h"

#include <cmath>

#include "masked_softmax/backward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::masked_softmax::backward {
namespace {

/// mask ? 0 : |scale| * (|g*y| + |y| * sum |g*y|).
void RowMagnitudes(int64_t n, const double* g, const double* y, const uint8_t* mask, double scale,
                   double* magnitude) {
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += std::abs(g[j] * y[j]);
  for (int64_t j = 0; j < n; ++j) {
    if (mask[j] != 0) continue;
    magnitude[j] = std::abs(scale) * (std::abs(g[j] * y[j]) + std::abs(y[j]) * sum);
  }
}

}  // namespace

const std::vector<Case>& Room::Cases() {
  static const std::vector<Case> cases = {
#include "masked_softmax/backward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle grad_output(spec.grad_output), y(spec.y), mask(spec.mask), out(spec.out);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
        grad_output.get(), y.get(), mask.get(), spec.scale, spec.fix_triu_mask, out.get(),
        spec.null_workspace_size ? nullptr : workspace_size,
        spec.null_executor ? nullptr : executor);
  });
}

Problem::Problem(const Case& shape, aclDataType dtype, const Fill& fill)
    : OperatorProblem(kApi, aclnnScaledMaskedSoftmaxBackward),
      grad_output(PlaceTensor(fill.seed, dtype, shape.dims, fill.strided, fill.repeats)),
      y(PlaceTensor(fill.seed + 1, dtype, shape.dims, fill.strided, fill.repeats)),
      mask(PlaceTensor(fill.seed + 2, ACL_BOOL, MaskDims(shape.dims, shape.mask), fill.strided,
                       fill.repeats)),
      out(PlaceTensor(fill.seed + 3, dtype, shape.dims, fill.strided, false)),
      case_(shape) {
  Random random(fill.seed);
  SetGradOutput(RandomValues(random, out.layout().count(), fill.values));
  SetY(RandomValues(random, out.layout().count(), fill.values));
  SetMask(RandomMask(random, mask.layout().count(), shape.percent));
}

std::vector<CallOperand> Problem::operands() const {
  return {{"gradOutput", 0, &grad_output, CallOperand::kInputOrOutput},
          {"y", 1, &y, CallOperand::kInputOrOutput},
          {"mask", 2, &mask},
          {"out", 3, &out, CallOperand::kOutput}};
}

Planned Problem::Plan() const {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
        grad_output.handle(), y.handle(), mask.handle(), case_.scale, false,
        const_cast<aclTensor*>(out.handle()), workspace_size, executor);
  });
}

Outcome Problem::RunInto(const Device& device, const DeviceTensor& output) const {
  const Planned planned = Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
        grad_output.handle(), y.handle(), mask.handle(), case_.scale, false,
        const_cast<aclTensor*>(output.handle()), workspace_size, executor);
  });
  return Execute(device, planned, aclnnScaledMaskedSoftmaxBackward);
}

ReferenceSums Problem::Reference() const {
  const std::vector<double> g = ValuesOf(grad_output);
  const std::vector<double> v = ValuesOf(y);
  const std::vector<uint8_t> masked = BroadcastMask(case_.dims, mask.layout().dims, mask.Read());
  const int64_t n = case_.dims[3];
  const auto scale = static_cast<double>(static_cast<float>(case_.scale));
  ReferenceSums sums{std::vector<double>(g.size()), std::vector<double>(g.size()),
                     std::vector<int64_t>(g.size(), n)};
  for (size_t row = 0; row < g.size(); row += static_cast<size_t>(n)) {
    openaclnn::masked_softmax::backward::Reference(n, &g[row], &v[row], &masked[row], scale,
                                                   &sums.value[row]);
    RowMagnitudes(n, &g[row], &v[row], &masked[row], scale, &sums.magnitude[row]);
  }
  return sums;
}

testing::AssertionResult Problem::OutputsAreRight() const {
  const std::vector<double> got = ValuesOf(out);
  const std::vector<uint8_t> masked = BroadcastMask(case_.dims, mask.layout().dims, mask.Read());
  for (size_t i = 0; i < got.size(); ++i) {
    if (masked[i] != 0 && (got[i] != 0 || std::signbit(got[i]))) {
      return testing::AssertionFailure() << "element " << i << " is masked and not +0";
    }
  }
  return AreWithin(out.dtype(), got, Reference());
}

}  // namespace openaclnn::test::masked_softmax::backward
