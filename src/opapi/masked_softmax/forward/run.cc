// SPDX-License-Identifier: Apache-2.0
// The rows of ScaledMaskedSoftmax, in blocks.
#include "kernels/rows/rows.h"
#include "masked_softmax/forward/op.h"

namespace openaclnn::masked_softmax::forward {

Status Run(const Plan& plan, const Buffers& buffers) {
  const auto row = [&](const PackedRows::Row& row) {
    plan.row({.x = row[kX],
              .mask = reinterpret_cast<const uint8_t*>(row[kMask]),
              .y = row[kY],
              .n = plan.width,
              .scale = plan.scale});
  };
  if (plan.packed.any()) {
    plan.packed.ForRows(buffers.data, buffers.workspace, row, [] {});
    return {};
  }
  ParallelRows(plan.rows, plan.width, [&](int64_t number) {
    row({plan.x.Row(buffers.data[kX], number), plan.mask.Row(buffers.data[kMask], number),
         plan.y.Row(buffers.data[kY], number)});
  });
  return {};
}

}  // namespace openaclnn::masked_softmax::forward
