// SPDX-License-Identifier: Apache-2.0
// The rows of ScaledMaskedSoftmaxBackward, in blocks.
#include "kernels/masked_softmax.h"
#include "kernels/rows.h"
#include "scaled_masked_softmax_backward/op.h"

namespace openaclnn::scaled_masked_softmax_backward {

Status Run(const Plan& plan, const Buffers& buffers) {
  using Dense = DenseRow<masked_softmax::kMaxWidth * sizeof(float)>;
  ParallelRows(plan.rows, plan.width, [&](int64_t row) {
    Dense dy(plan.dy, buffers.data[kGradOutput], row, plan.width);
    Dense y(plan.y, buffers.data[kY], row, plan.width);
    Dense mask(plan.mask, buffers.data[kMask], row, plan.width);
    Dense dx(plan.dx, buffers.data[kOut], row, plan.width);
    plan.row({dy.In(), y.In(), reinterpret_cast<const uint8_t*>(mask.In()), dx.Out(), plan.width,
              plan.scale});
    dx.Flush();
  });
  return {};
}

}  // namespace openaclnn::scaled_masked_softmax_backward
