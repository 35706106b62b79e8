// SPDX-License-Identifier: Apache-2.0
// The frozen decision of EmbeddingDenseBackward: sizes, layouts, scratch.
#include "embedding/backward/op.h"
#include "kernels/work/scratch.h"

namespace openaclnn::embedding::backward {

Plan MakePlan(const Params& p, const Product&) {
  Plan plan = {};
  plan.tokens = p.grad.empty() ? 0 : *p.indices.count();
  plan.num_weights = p.numWeights;
  plan.padding_row = p.paddingIdx < p.numWeights ? static_cast<int64_t>(p.paddingIdx) : -1;
  plan.indices = IndexView(p.indices);
  plan.dy = DenseInput(p.grad);
  plan.sum = SegmentSumPlan(plan.dy.rows(), p.grad.dtype(), p.out, plan.tokens, p.scaleGradByFreq);
  const __int128 hits = static_cast<__int128>(2 * sizeof(Hit)) * plan.tokens;
  plan.workspace_size = ScratchBytes(hits + plan.sum.scratch_bytes() + plan.dy.bytes());
  return plan;
}

}  // namespace openaclnn::embedding::backward
