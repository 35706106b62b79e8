// SPDX-License-Identifier: Apache-2.0
// The frozen decision of EmbeddingDenseBackward: sizes, layouts, scratch.
#include "embedding_dense_backward/op.h"
#include "kernels/hits.h"

namespace openaclnn::embedding_dense_backward {

Plan MakePlan(const Params& p) {
  Plan plan = {};
  plan.kernels = OPENACLNN_TARGET_SELECT(kKernels);
  plan.width = p.grad.last_dim();
  plan.tokens = p.grad.empty() ? 0 : *p.indices.count();
  plan.num_weights = p.numWeights;
  plan.padding_row = p.paddingIdx < p.numWeights ? static_cast<int64_t>(p.paddingIdx) : -1;
  plan.scale_by_count = p.scaleGradByFreq;
  plan.grad_dtype = p.grad.dtype();
  plan.out_dtype = p.out.dtype();
  plan.grad = RowView(p.grad);
  plan.out = RowView(p.out);
  plan.indices = IndexView(p.indices);
  // A row of more than kUnitHits hits has fewer than twice hits / kUnitHits units.
  plan.max_units = 2 * (plan.tokens / kUnitHits);
  const uint64_t unit_bytes =
      2 * sizeof(int64_t) + static_cast<uint64_t>(plan.width) * sizeof(float);
  plan.workspace_size = 2 * static_cast<uint64_t>(plan.tokens) * sizeof(Hit) +
                        static_cast<uint64_t>(plan.max_units) * unit_bytes;
  return plan;
}

}  // namespace openaclnn::embedding_dense_backward
