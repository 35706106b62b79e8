// SPDX-License-Identifier: Apache-2.0
// The frozen decision of Embedding: sizes, layouts, scratch.
#include "embedding/forward/op.h"
#include "kernels/work/scratch.h"

namespace openaclnn::embedding::forward {

Plan MakePlan(const Params& p, const Product&) {
  Plan plan = {};
  plan.width = p.weight.dim(1);
  plan.tokens = p.out.empty() ? 0 : *p.indices.count();
  plan.num_weights = static_cast<uint64_t>(p.weight.dim(0));
  plan.weight = RowView(p.weight);
  plan.out = RowView(p.out);
  plan.indices = IndexView(p.indices);
  if (IsStreamed(p.out) && RowsAreLines(p.out) && plan.weight.step == 1) {
    plan.streams = OPENACLNN_TARGET_SELECT(kStreamKernels);
  }
  plan.workspace_size = ScratchBytes(static_cast<__int128>(sizeof(int64_t)) * plan.tokens);
  return plan;
}

}  // namespace openaclnn::embedding::forward
