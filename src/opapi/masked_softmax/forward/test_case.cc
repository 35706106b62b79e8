// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of ScaledMaskedSoftmax's tests.
#include "masked_softmax/forward/test_case.h"

#include <cmath>

#include "masked_softmax/forward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::masked_softmax::forward {
namespace {

/// How far each y_j of a row may be: beside the errors of a sum, the argument z_k of each
/// exponential is rounded when it is scaled and when the largest is taken from it.
void RowBounds(int64_t n, const double* x, const uint8_t* mask, double scale, const double* y,
               double* bound) {
  std::vector<double> z(static_cast<size_t>(n)), d(z.size());
  double largest = -HUGE_VAL, mean = 0;
  for (size_t k = 0; k < z.size(); ++k) {
    z[k] = mask[k] != 0 ? -10000 : scale * x[k];
    largest = std::fmax(largest, z[k]);
  }
  for (size_t k = 0; k < z.size(); ++k) {
    d[k] = (mask[k] != 0 ? 0 : std::abs(z[k])) + std::abs(z[k] - largest);
    if (y[k] != 0) mean += y[k] * d[k];
  }
  for (size_t j = 0; j < z.size(); ++j) {
    bound[j] = Bound(n, y[j]) + (y[j] != 0 ? (d[j] + mean) * 0x1p-24 * y[j] : 0);
  }
}

}  // namespace

const std::vector<Case>& Room::Cases() {
  static const std::vector<Case> cases = {
#include "masked_softmax/forward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle x(spec.x), mask(spec.mask), y(spec.y);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnScaledMaskedSoftmaxGetWorkspaceSize(
        x.get(), mask.get(), spec.scale, spec.fix_triu_mask, y.get(),
        spec.null_workspace_size ? nullptr : workspace_size,
        spec.null_executor ? nullptr : executor);
  });
}

Problem::Problem(const Case& shape, aclDataType dtype, const Fill& fill)
    : OperatorProblem(kApi, aclnnScaledMaskedSoftmax),
      x(PlaceTensor(fill.seed, dtype, shape.dims, fill.strided, fill.repeats)),
      mask(PlaceTensor(fill.seed + 1, ACL_BOOL, MaskDims(shape.dims, shape.mask), fill.strided,
                       fill.repeats)),
      y(PlaceTensor(fill.seed + 2, dtype, shape.dims, fill.strided, false)),
      case_(shape) {
  Random random(fill.seed);
  SetX(RandomValues(random, x.layout().count(), fill.values));
  SetMask(RandomMask(random, mask.layout().count(), shape.percent));
}

std::vector<CallOperand> Problem::operands() const {
  return {{"x", 0, &x}, {"mask", 1, &mask}, {"y", 2, &y, CallOperand::kOutput}};
}

Planned Problem::Plan() const {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnScaledMaskedSoftmaxGetWorkspaceSize(x.handle(), mask.handle(), case_.scale, false,
                                                    const_cast<aclTensor*>(y.handle()),
                                                    workspace_size, executor);
  });
}

Problem::Expectation Problem::Reference() const {
  const std::vector<double> values = ValuesOf(x);
  const std::vector<uint8_t> masked = BroadcastMask(case_.dims, mask.layout().dims, mask.Read());
  const int64_t n = case_.dims[3];
  const auto scale = static_cast<double>(static_cast<float>(case_.scale));
  Expectation expected{std::vector<double>(values.size()), std::vector<double>(values.size())};
  for (size_t row = 0; row < values.size(); row += static_cast<size_t>(n)) {
    double* const value = &expected.value[row];
    openaclnn::masked_softmax::forward::Reference(n, &values[row], &masked[row], scale, value);
    RowBounds(n, &values[row], &masked[row], scale, value, &expected.bound[row]);
  }
  return expected;
}

testing::AssertionResult Problem::OutputsAreRight() const {
  const Expectation expected = Reference();
  const std::vector<double> got = ValuesOf(y);
  for (size_t i = 0; i < got.size(); ++i) {
    if (IsWithin(y.dtype(), got[i], expected.value[i], expected.bound[i])) continue;
    return testing::AssertionFailure()
           << "element " << i << " is " << got[i] << ", reference " << expected.value[i] << ", "
           << std::abs(got[i] - expected.value[i]) / expected.bound[i] << " times the bound off";
  }
  return testing::AssertionSuccess();
}

}  // namespace openaclnn::test::masked_softmax::forward
