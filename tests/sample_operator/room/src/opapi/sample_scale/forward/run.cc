// SPDX-License-Identifier: Apache-2.0
// The rows of SampleScale, in blocks.
#include "kernels/rows.h"
#include "sample_scale/forward/op.h"

namespace openaclnn::sample_scale::forward {

Status Run(const Plan& plan, const Buffers& buffers) {
  ParallelRows(plan.rows, plan.width, [&](int64_t row) {
    plan.row({
        .x = plan.x.Row(buffers.data[kSelf], row),
        .y = plan.y.Row(buffers.data[kOut], row),
        .x_step = plan.x.step,
        .y_step = plan.y.step,
        .n = plan.width,
        .scale = plan.scale,
    });
  });
  return {};
}

}  // namespace openaclnn::sample_scale::forward
