// SPDX-License-Identifier: Apache-2.0
// The rows of ScaledMaskedSoftmaxBackward, in blocks.
#include "kernels/rows.h"
#include "kernels/stream.h"
#include "masked_softmax/backward/op.h"

namespace openaclnn::masked_softmax::backward {

Status Run(const Plan& plan, const Buffers& buffers) {
  const void* out = buffers.data[kOut];
  const bool in_place = out == buffers.data[kGradOutput] || out == buffers.data[kY];
  const bool streams = plan.streamed_row != nullptr && !in_place && BeginsLine(out);
  const auto run = streams ? plan.streamed_row : plan.row;
  const auto row = [&](int64_t row) {
    run({
        .dy = plan.dy.Row(buffers.data[kGradOutput], row),
        .y = plan.y.Row(buffers.data[kY], row),
        .mask = reinterpret_cast<const uint8_t*>(plan.mask.Row(buffers.data[kMask], row)),
        .dx = plan.dx.Row(buffers.data[kOut], row),
        .dy_step = plan.dy.step,
        .y_step = plan.y.step,
        .mask_step = plan.mask.step,
        .dx_step = plan.dx.step,
        .n = plan.width,
        .scale = plan.scale,
    });
  };
  const auto end_block = [streams] {
    if (streams) EndStreams();
  };
  ParallelRows(plan.rows, plan.width, row, end_block);
  return {};
}

}  // namespace openaclnn::masked_softmax::backward
