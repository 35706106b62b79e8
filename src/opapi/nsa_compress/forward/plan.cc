// SPDX-License-Identifier: Apache-2.0
// The frozen decision of NsaCompress: windows, layouts, scratch.
#include "nsa_compress/forward/op.h"

namespace openaclnn::nsa_compress::forward {

Plan MakePlan(const Params& p, const Product&) {
  const Geometry geometry = p.geometry();
  Plan plan = {};
  plan.kernels = p.input.dtype() == ACL_FLOAT16 ? OPENACLNN_TARGET_SELECT(kFloat16Kernels)
                                                : OPENACLNN_TARGET_SELECT(kBFloat16Kernels);
  plan.tokens = p.input.dim(0);
  plan.heads = p.input.dim(1);
  plan.width = p.input.dim(2);
  plan.windows = p.output.dim(0);
  plan.block = geometry.block;
  plan.stride = geometry.stride;
  plan.segments = CutSegments(p.actSeqLen.values(), geometry);
  plan.x = RowView(p.input);
  plan.w = RowView(p.weight);
  plan.y = RowView(p.output);
  plan.halves = plan.block == 2 * plan.stride && plan.block <= kChunk && plan.x.step == 1 &&
                plan.y.step == 1 && plan.x.rows.step() != 0 && plan.y.rows.step() != 0;
  plan.workspace_size = static_cast<uint64_t>(plan.block * plan.heads) * sizeof(float);
  return plan;
}

}  // namespace openaclnn::nsa_compress::forward
