// SPDX-License-Identifier: Apache-2.0
// The rows of ScaledMaskedSoftmax, in blocks.
#include "kernels/rows.h"
#include "masked_softmax/forward/op.h"

namespace openaclnn::masked_softmax::forward {

Status Run(const Plan& plan, const Buffers& buffers) {
  ParallelRows(plan.rows, plan.width, [&](int64_t row) {
    plan.row({
        .x = plan.x.Row(buffers.data[kX], row),
        .mask = reinterpret_cast<const uint8_t*>(plan.mask.Row(buffers.data[kMask], row)),
        .y = plan.y.Row(buffers.data[kY], row),
        .x_step = plan.x.step,
        .mask_step = plan.mask.step,
        .y_step = plan.y.step,
        .n = plan.width,
        .scale = plan.scale,
    });
  });
  return {};
}

}  // namespace openaclnn::masked_softmax::forward
