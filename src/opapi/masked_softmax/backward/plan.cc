// SPDX-License-Identifier: Apache-2.0
// The frozen decision of ScaledMaskedSoftmaxBackward: layouts and the row kernel.
#include "kernels/stream.h"
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
  const bool dense =
      plan.dy.step == 1 && plan.y.step == 1 && plan.mask.step == 1 && plan.dx.step == 1;
  const Kernels& kernels =
      dense ? *OPENACLNN_TARGET_SELECT(kDenseKernels) : *OPENACLNN_TARGET_SELECT(kStridedKernels);
  plan.row = kernels.For(p.gradOutput.dtype());
  if (dense && IsStreamed(p.out) && RowsAreLines(p.out)) {
    plan.streamed_row = OPENACLNN_TARGET_SELECT(kStreamedKernels)->For(p.gradOutput.dtype());
  }
  return plan;
}

}  // namespace openaclnn::masked_softmax::backward
