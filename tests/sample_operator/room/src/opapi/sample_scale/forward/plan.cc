// SPDX-License-Identifier: Apache-2.0
// The frozen decision of SampleScale: layouts and the row kernel.
#include "sample_scale/forward/op.h"

namespace openaclnn::sample_scale::forward {
namespace {

KernelType TypeOf(const Operand& operand) {
  return operand.dtype() == ACL_FLOAT ? kFloat : operand.dtype() == ACL_FLOAT16 ? kHalf : kBFloat16;
}

}  // namespace

Plan MakePlan(const Params& p, const Product&) {
  Plan plan = {};
  plan.width = p.self.last_dim();
  plan.rows = p.self.empty() ? 0 : *p.self.count() / plan.width;
  plan.scale = static_cast<float>(p.scale);
  plan.x = RowView(p.self);
  plan.y = RowView(p.out);
  plan.packed = PackedRows(p.operands());
  plan.workspace_size = plan.packed.workspace_bytes();
  plan.row = (*OPENACLNN_TARGET_SELECT(kKernels))[TypeOf(p.self)];
  return plan;
}

}  // namespace openaclnn::sample_scale::forward
