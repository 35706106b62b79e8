// SPDX-License-Identifier: Apache-2.0
// The frozen decision of ScaledMaskedSoftmaxBackward: layouts and the row kernel.
#include "kernels/simd/stream.h"
#include "masked_softmax/backward/op.h"

namespace openaclnn::masked_softmax::backward {

Plan MakePlan(const Params& p, const Product&) {
  Plan plan = {};
  plan.width = p.gradOutput.last_dim();
  plan.rows = p.gradOutput.empty() ? 0 : *p.gradOutput.count() / plan.width;
  plan.scale = static_cast<float>(p.scale);
  plan.dy = RowView(p.gradOutput);
  plan.y = RowView(p.y);
  plan.mask = RowView(p.mask, p.gradOutput);
  plan.dx = RowView(p.out);
  plan.packed = PackedRows(p.operands());
  plan.workspace_size = plan.packed.workspace_bytes();
  plan.row = OPENACLNN_TARGET_SELECT(kKernels)->For(p.gradOutput.dtype());
  plan.rows_are_long = RowsAreLong(p.out);
  if (IsStreamed(p.out) && (plan.rows_are_long || RowsAreLines(p.out))) {
    plan.streamed_row = OPENACLNN_TARGET_SELECT(kStreamedKernels)->For(p.gradOutput.dtype());
  }
  return plan;
}

}  // namespace openaclnn::masked_softmax::backward
