// SPDX-License-Identifier: Apache-2.0
// The frozen decision of GroupedBiasAddGrad: sizes, layouts, scratch.
#include "grouped_bias/backward/op.h"
#include "kernels/work/scratch.h"

namespace openaclnn::grouped_bias::backward {

Plan MakePlan(const Params& p, const Product&) {
  const bool listed = p.groupIdxOptional.present();
  Plan plan = {};
  plan.groups = p.out.dim(0);
  plan.rows_a_group = listed ? -1 : p.gradY.dim(1);
  plan.rows = p.gradY.empty() ? 0 : listed ? p.gradY.dim(0) : plan.groups * plan.rows_a_group;
  plan.sizes = p.groupIdxType == kSizes;
  if (listed) {
    plan.list_dtype = p.groupIdxOptional.dtype();
    plan.list = Offsets(p.groupIdxOptional, 1);
  }
  plan.dy = DenseInput(p.gradY);
  plan.sum = SegmentSumPlan(plan.dy.rows(), p.gradY.dtype(), p.out, plan.rows, false);
  const int64_t ends = listed ? plan.groups * static_cast<int64_t>(sizeof(int64_t)) : 0;
  plan.workspace_size = ScratchBytes(plan.dy.bytes() + plan.sum.scratch_bytes() + ends);
  return plan;
}

}  // namespace openaclnn::grouped_bias::backward
