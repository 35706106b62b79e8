// SPDX-License-Identifier: Apache-2.0
// The rows of ScaledMaskedSoftmaxBackward, in blocks.
#include "kernels/rows/rows.h"
#include "kernels/simd/stream.h"
#include "masked_softmax/backward/op.h"

namespace openaclnn::masked_softmax::backward {

Status Run(const Plan& plan, const Buffers& buffers) {
  const void* out = buffers.data[kOut];
  const bool in_place = out == buffers.data[kGradOutput] || out == buffers.data[kY];
  // Elements that begin anywhere, which is told, have no line that begins with one.
  const bool begins =
      plan.rows_are_long ? BeginsElement(out, plan.dx.element_bytes) : BeginsLine(out);
  const bool streams = plan.streamed_row != nullptr && !in_place && begins;
  const auto run = streams ? plan.streamed_row : plan.row;
  const auto row = [&](const PackedRows::Row& row) {
    run({.dy = row[kGradOutput],
         .y = row[kY],
         .mask = reinterpret_cast<const uint8_t*>(row[kMask]),
         .dx = row[kOut],
         .n = plan.width,
         .scale = plan.scale});
  };
  const auto end_block = [streams] {
    if (streams) EndStreams();
  };
  if (plan.packed.any()) {
    plan.packed.ForRows(buffers.data, buffers.workspace, row, end_block);
    return {};
  }
  const auto numbered = [&](int64_t number) {
    row({plan.dy.Row(buffers.data[kGradOutput], number), plan.y.Row(buffers.data[kY], number),
         plan.mask.Row(buffers.data[kMask], number), plan.dx.Row(buffers.data[kOut], number)});
  };
  ParallelRows(plan.rows, plan.width, numbered, end_block);
  return {};
}

}  // namespace openaclnn::masked_softmax::backward
