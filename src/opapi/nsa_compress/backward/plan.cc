// SPDX-License-Identifier: Apache-2.0
// The frozen decision of NsaCompressGrad: windows, layouts, and the parts of the workspace.
#include <algorithm>

#include "kernels/simd/stream.h"
#include "kernels/work/divide_up.h"
#include "kernels/work/scratch.h"
#include "nsa_compress/backward/op.h"

namespace openaclnn::nsa_compress::backward {
namespace {

/// Elements from one index of a dimension to the next; the stride of a single index means nothing.
int64_t Step(const Operand& operand, uint32_t axis) {
  return operand.dim(axis) == 1 ? 0 : operand.tensor().strides[axis];
}

Dense MakeDense(const Operand& operand, ScratchParts* parts) {
  Dense dense = {};
  const int64_t heads = operand.dim(1), width = operand.dim(2);
  dense.view = RowView(operand);
  dense.rows = operand.dim(0) * heads;
  dense.width = width;
  dense.copied = dense.view.step != 1;
  const int64_t bytes = dense.view.element_bytes;
  dense.token = (dense.copied ? heads * width : Step(operand, 0)) * bytes;
  dense.head = (dense.copied ? width : Step(operand, 1)) * bytes;
  if (dense.copied) dense.copy_at = parts->Take(static_cast<__int128>(dense.rows) * width * bytes);
  return dense;
}

/// Heads whose parts of a token are read together: they follow each other in memory, as they do in
/// most calls. Speeds of four against one, 384 bytes each, on one thread of a Zen 4: 1.4 to 1.8.
int64_t GroupHeads(const Plan& plan) {
  constexpr int64_t kBlocks = 8;  // of parallel work, which threads share
  int64_t group = std::min(plan.heads, kGroupRows / plan.block);
  while (group > 1 && plan.units * DivideUp(plan.heads, group) < kBlocks) group /= 2;
  return group;
}

}  // namespace

Plan MakePlan(const Params& p, const Product&) {
  const Geometry geometry = p.geometry();
  Plan plan = {};
  plan.dtype = p.input.dtype();
  plan.kernels = plan.dtype == ACL_FLOAT16 ? OPENACLNN_TARGET_SELECT(kFloat16Kernels)
                                           : OPENACLNN_TARGET_SELECT(kBFloat16Kernels);
  plan.tokens = p.input.dim(0);
  plan.heads = p.input.dim(1);
  plan.width = p.input.dim(2);
  plan.windows = p.outputGrad.dim(0);
  plan.block = geometry.block;
  plan.stride = geometry.stride;
  plan.segments = CutSegments(p.actSeqLen.values(), geometry);
  ScratchParts parts;
  plan.dy = MakeDense(p.outputGrad, &parts);
  plan.x = MakeDense(p.input, &parts);
  plan.dx = MakeDense(p.inputGradOut, &parts);
  plan.w = RowView(p.weight);
  plan.dw = RowView(p.weightGradOut);
  const int64_t unit_windows = ChunkWindows(plan.width) * kUnitChunks;
  plan.units = DivideUp(plan.windows, unit_windows);
  plan.group = GroupHeads(plan);
  plan.streams = IsStreamed(p.inputGradOut) && RowsAreLines(p.inputGradOut);
  const __int128 table = static_cast<__int128>(plan.block * plan.heads) * sizeof(float);
  plan.weight_at = parts.Take(table);
  plan.sums_at = parts.Take(plan.units * table);
  plan.workspace_size = parts.bytes();
  return plan;
}

}  // namespace openaclnn::nsa_compress::backward
