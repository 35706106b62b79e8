// SPDX-License-Identifier: Apache-2.0
// The rows of SampleScale, in blocks.
#include "kernels/rows/rows.h"
#include "sample_scale/forward/op.h"

namespace openaclnn::sample_scale::forward {

Status Run(const Plan& plan, const Buffers& buffers) {
  const auto row = [&](const PackedRows::Row& row) {
    plan.row({.x = row[kSelf], .y = row[kOut], .n = plan.width, .scale = plan.scale});
  };
  if (plan.packed.any()) {
    plan.packed.ForRows(buffers.data, buffers.workspace, row, [] {});
    return {};
  }
  ParallelRows(plan.rows, plan.width, [&](int64_t number) {
    row({plan.x.Row(buffers.data[kSelf], number), plan.y.Row(buffers.data[kOut], number)});
  });
  return {};
}

}  // namespace openaclnn::sample_scale::forward
