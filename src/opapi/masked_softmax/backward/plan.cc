// SPDX-License-Identifier: Apache-2.0
// The frozen decision of ScaledMaskedSoftmaxBackward: layouts and the row kernel.
#include "ascendcl/data_type.h"
#include "kernels/stream.h"
#include "masked_softmax/backward/op.h"

namespace openaclnn::masked_softmax::backward {
namespace {

/// Whether the whole cache lines of a row are worth it, wherever it begins. Speeds of 8 Mi elements
/// against ordinary stores, one thread of a Sapphire Rapids and two: rows of 1,000 FLOAT 1.2
/// to 1.6, of 4,090 1.25 to 2.1, of 250 0.8 to 1.05; in BFLOAT16 1.0 to 1.1, 1.0 to 1.2 and 0.6 to
/// 0.85.
bool RowsAreLong(const Operand& out) {
  constexpr int64_t kLeastBytes = 2000;
  const auto bytes = static_cast<int64_t>(FindDataType(out.dtype())->bytes);
  const uint32_t rank = out.rank();
  return rank > 0 && out.tensor().strides[rank - 1] == 1 && out.last_dim() * bytes >= kLeastBytes;
}

}  // namespace

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
  plan.streams_anywhere = RowsAreLong(p.out);
  if (IsStreamed(p.out) && (plan.streams_anywhere || RowsAreLines(p.out))) {
    plan.streamed_row = OPENACLNN_TARGET_SELECT(kStreamedKernels)->For(p.gradOutput.dtype());
  }
  return plan;
}

}  // namespace openaclnn::masked_softmax::backward
