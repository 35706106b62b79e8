// SPDX-License-Identifier: Apache-2.0
// The work of ConvTbcBackward: three gradients, one after the other in the same workspace.
#include "conv_tbc/backward/op.h"

namespace openaclnn::conv_tbc::backward {

Status Run(const Plan& plan, const Buffers& buffers) {
  auto* const workspace = static_cast<std::byte*>(buffers.workspace);
  std::byte* const scratch = workspace + plan.scratch_at;
  const void* dy = plan.dy.Take(buffers.data[kSelf], workspace + plan.dy_at);
  const void* x = plan.x.Take(buffers.data[kInput], workspace + plan.x_at);
  const void* w = plan.w.Take(buffers.data[kWeight], workspace + plan.w_at);
  RunGemm(plan.dx, dy, w, nullptr, buffers.data[kGradInput], scratch);
  RunGemm(plan.dw, x, dy, nullptr, buffers.data[kGradWeight], scratch);
  SegmentSum bias(plan.db, dy, buffers.data[kGradBias], scratch, nullptr);
  const EqualSegments segments = {plan.rows};
  bias.AddLongSegment(0, plan.rows);
  bias.Run(1, segments);
  return {};
}

}  // namespace openaclnn::conv_tbc::backward
