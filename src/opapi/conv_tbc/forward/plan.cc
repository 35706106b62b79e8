// SPDX-License-Identifier: Apache-2.0
// The frozen decision of ConvTbc: one product, whose terms are taps and input channels.
#include "conv_tbc/forward/op.h"
#include "kernels/work/scratch.h"

namespace openaclnn::conv_tbc::forward {

Plan MakePlan(const Params& p, const Product& product) {
  const Geometry g(p.self, p.weight, p.pad);
  const Rounding rounding = *RoundingOf(p.self.dtype(), p.cubeMathType, product);
  Plan plan = {};
  if (p.out.empty()) return plan;
  plan.x = DenseInput(p.self);
  plan.w = DenseInput(p.weight);
  Gemm& gemm = plan.gemm;
  gemm.a = TapsOf(p.self, plan.x, rounding, RowsBetween(-g.pad, g), g.batch, /*transposed=*/false);
  gemm.b = TapsOf(p.weight, plan.w, rounding, 0, 0, /*transposed=*/false);
  gemm.c = RowView(p.out);
  gemm.c_dtype = p.out.dtype();
  gemm.adds = true;
  gemm.added = {.view = RowView(p.bias), .dtype = p.bias.dtype()};
  gemm.terms = g.taps * g.in_channels;
  gemm.columns = g.out_channels;
  // Step t takes tap k where 0 <= t + k - pad < T_in.
  gemm.rows = {.groups = g.out_length,
               .group_rows = g.batch,
               .first = g.pad,
               .step = -1,
               .length = g.in_length,
               .places = g.taps,
               .place_terms = g.in_channels,
               .merge = true};
  gemm.most_bytes = MostWorkspace(p.operands());
  PlanGemm(&gemm);
  ScratchParts parts;
  plan.x_at = parts.Take(plan.x.bytes());
  plan.w_at = parts.Take(plan.w.bytes());
  plan.gemm_at = parts.bytes();
  plan.workspace_size = ScratchBytes(__int128{plan.gemm_at} + gemm.scratch_bytes());
  return plan;
}

}  // namespace openaclnn::conv_tbc::forward
