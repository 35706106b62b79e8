// SPDX-License-Identifier: Apache-2.0
// The frozen decision of ConvTbcBackward: two products and a sum.
#include <algorithm>

#include "conv_tbc/backward/op.h"
#include "kernels/work/scratch.h"

namespace openaclnn::conv_tbc::backward {
namespace {

/// Rows of dx are time and batch; terms are taps and output channels, backwards in time.
Gemm PlanInputGrad(const Params& p, const Plan& plan, const Geometry& g, Rounding rounding) {
  Gemm gemm = {};
  if (p.gradInput.empty()) return gemm;
  gemm.a = TapsOf(p.self, plan.dy, rounding, RowsBetween(g.pad, g), -g.batch, /*transposed=*/false);
  gemm.b = TapsOf(p.weight, plan.w, rounding, 0, g.in_channels, /*transposed=*/true);
  gemm.c = RowView(p.gradInput);
  gemm.c_dtype = p.gradInput.dtype();
  gemm.terms = g.taps * g.out_channels;
  gemm.columns = g.in_channels;
  // Step s takes tap k where 0 <= s + pad - k < T_out.
  gemm.rows = {.groups = g.in_length,
               .group_rows = g.batch,
               .first = static_cast<__int128>(g.pad) - g.out_length + 1,
               .step = 1,
               .length = g.out_length,
               .places = g.taps,
               .place_terms = g.out_channels,
               .merge = true};
  gemm.most_bytes = MostWorkspace(p.operands());
  PlanGemm(&gemm);
  return gemm;
}

/// Rows of dw are taps and input channels; terms are time and batch, those that x has at the tap.
Gemm PlanWeightGrad(const Params& p, const Plan& plan, const Geometry& g, Rounding rounding) {
  Gemm gemm = {};
  if (p.gradWeight.empty()) return gemm;
  gemm.a = TapsOf(p.input, plan.x, rounding, RowsBetween(-g.pad, g), g.batch, /*transposed=*/true);
  gemm.b = TapsOf(p.self, plan.dy, rounding, 0, 0, /*transposed=*/false);
  gemm.c = RowView(p.gradWeight);
  gemm.c_dtype = p.gradWeight.dtype();
  gemm.terms = g.out_length * g.batch;
  gemm.columns = g.out_channels;
  // Tap k takes step t where 0 <= t + k - pad < T_in.
  gemm.rows = {.groups = g.taps,
               .group_rows = g.in_channels,
               .first = g.pad,
               .step = -1,
               .length = g.in_length,
               .places = g.out_length,
               .place_terms = g.batch,
               .merge = false};
  gemm.most_bytes = MostWorkspace(p.operands());
  PlanGemm(&gemm);
  return gemm;
}

}  // namespace

Plan MakePlan(const Params& p, const Product& product) {
  const Geometry g(p.input, p.weight, p.pad);
  const Rounding rounding = *RoundingOf(p.self.dtype(), p.cubeMathType, product);
  Plan plan = {};
  plan.dy = DenseInput(p.self);
  plan.x = DenseInput(p.input);
  plan.w = DenseInput(p.weight);
  plan.dx = PlanInputGrad(p, plan, g, rounding);
  plan.dw = PlanWeightGrad(p, plan, g, rounding);
  plan.rows = g.out_length * g.batch;
  plan.db = SegmentSumPlan(plan.dy.rows(), p.self.dtype(), p.gradBias, plan.rows, false);
  ScratchParts parts;
  plan.dy_at = parts.Take(plan.dy.bytes());
  plan.x_at = parts.Take(plan.x.bytes());
  plan.w_at = parts.Take(plan.w.bytes());
  plan.scratch_at = parts.bytes();
  plan.workspace_size = ScratchBytes(
      __int128{plan.scratch_at} +
      std::max({plan.dx.scratch_bytes(), plan.dw.scratch_bytes(), plan.db.scratch_bytes()}));
  return plan;
}

}  // namespace openaclnn::conv_tbc::backward
