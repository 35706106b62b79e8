// SPDX-License-Identifier: Apache-2.0
// The rows of ScaledMaskedSoftmax, in blocks.
#include "kernels/masked_softmax.h"
#include "kernels/rows.h"
#include "scaled_masked_softmax/op.h"

namespace openaclnn::scaled_masked_softmax {

Status Run(const Plan& plan, const Buffers& buffers) {
  using Dense = DenseRow<masked_softmax::kMaxWidth * sizeof(float)>;
  ParallelRows(plan.rows, plan.width, [&](int64_t row) {
    Dense x(plan.x, buffers.data[kX], row, plan.width);
    Dense mask(plan.mask, buffers.data[kMask], row, plan.width);
    Dense y(plan.y, buffers.data[kY], row, plan.width);
    plan.row(
        {x.In(), reinterpret_cast<const uint8_t*>(mask.In()), y.Out(), plan.width, plan.scale});
    y.Flush();
  });
  return {};
}

}  // namespace openaclnn::scaled_masked_softmax
