// SPDX-License-Identifier: Apache-2.0
// The frozen decision of ScaledMaskedSoftmax: layouts and the row kernel.
#include "masked_softmax/forward/op.h"

namespace openaclnn::masked_softmax::forward {

Plan MakePlan(const Params& p, const Product&) {
  Plan plan = {};
  plan.width = p.x.last_dim();
  plan.rows = p.x.empty() ? 0 : *p.x.count() / plan.width;
  plan.scale = static_cast<float>(p.scale);
  plan.x = RowView(p.x);
  plan.mask = RowView(p.mask, p.x);
  plan.y = RowView(p.y);
  plan.packed = PackedRows(p.operands());
  plan.workspace_size = plan.packed.workspace_bytes();
  plan.row = OPENACLNN_TARGET_SELECT(kKernels)->For(p.x.dtype());
  return plan;
}

}  // namespace openaclnn::masked_softmax::forward
