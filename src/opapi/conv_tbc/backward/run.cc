// SPDX-License-Identifier: Apache-2.0
// The work of ConvTbcBackward: three gradients, one after the other in the same workspace.
#include "conv_tbc/backward/op.h"

namespace openaclnn::conv_tbc::backward {

Status Run(const Plan& plan, const Buffers& buffers) {
  const void* dy = buffers.data[kSelf];
  RunGemm(plan.dx, dy, buffers.data[kWeight], nullptr, buffers.data[kGradInput], buffers.workspace);
  RunGemm(plan.dw, buffers.data[kInput], dy, nullptr, buffers.data[kGradWeight], buffers.workspace);
  SegmentSum bias(plan.db, dy, buffers.data[kGradBias], buffers.workspace, nullptr);
  const EqualSegments segments = {plan.rows};
  bias.AddLongSegment(0, plan.rows);
  bias.Run(1, segments);
  return {};
}

}  // namespace openaclnn::conv_tbc::backward
