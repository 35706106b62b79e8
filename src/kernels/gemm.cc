// SPDX-License-Identifier: Apache-2.0
// Matrix products: how the work is cut, and the parts of the scratch.
#include "kernels/gemm.h"

#include <algorithm>
#include <bit>

#include "kernels/parallel.h"

namespace openaclnn {
namespace {

// Enough for some threads to share evenly, and few enough for their scratch to be small.
constexpr int64_t kWantedItems = 16;
constexpr int64_t kMaxBodies = 32;
constexpr int64_t kPackElements = 65536;  // of B that a thread packs at a time

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t GroupPanels(const Gemm& gemm) { return DivideUp(gemm.panels, gemm.column_groups); }

int64_t PaddedColumns(const Gemm& gemm) { return gemm.panels * gemm.kernels->tile_columns; }

/// Sums of units that wait for their partner at the same time.
int64_t Levels(const Gemm& gemm) {
  const int64_t units = DivideUp(gemm.terms, kGemmUnit);
  return units > 1 ? std::bit_width(static_cast<uint64_t>(units - 1)) : 0;
}

int64_t PartialElements(const Gemm& gemm) {
  return Levels(gemm) * kGemmRows * GroupPanels(gemm) * gemm.kernels->tile_columns;
}

int64_t BodyElements(const Gemm& gemm) { return kGemmRows * kGemmUnit + PartialElements(gemm); }

}  // namespace

uint64_t Gemm::scratch_bytes() const {
  if (bodies == 0) return 0;
  // Terms of views that repeat their elements may be too many for any memory.
  const __int128 padded = PaddedColumns(*this);
  const __int128 elements = padded * terms + padded + bodies * BodyElements(*this);
  return static_cast<uint64_t>(std::min<__int128>(elements * sizeof(float), INT64_MAX));
}

void PlanGemm(Gemm* gemm) {
  gemm->kernels = OPENACLNN_TARGET_SELECT(kGemmKernels);
  gemm->panels = DivideUp(gemm->columns, gemm->kernels->tile_columns);
  for (GemmBand band : gemm->bands) {
    const int64_t end = band.row_end;
    for (; band.row_begin < end; band.row_begin += kGemmRows) {
      band.row_end = std::min(band.row_begin + kGemmRows, end);
      gemm->blocks.push_back(band);
    }
  }
  const auto blocks = static_cast<int64_t>(gemm->blocks.size());
  gemm->column_groups = std::min(DivideUp(kWantedItems, blocks), gemm->panels);
  gemm->bodies = std::min(blocks * gemm->column_groups, kMaxBodies);
}

void RunGemm(const Gemm& gemm, const void* a, const void* b, const void* bias, void* c,
             void* scratch) {
  if (gemm.bodies == 0) return;
  const int64_t padded = PaddedColumns(gemm);
  float* packed_b = static_cast<float*>(scratch);
  float* packed_bias = packed_b + padded * gemm.terms;
  float* bodies = packed_bias + padded;
  if (gemm.has_bias) {
    std::fill_n(packed_bias, padded, 0.0f);
    gemm.kernels->widen(bias, gemm.bias_step, gemm.bias_dtype, gemm.columns, packed_bias);
  }
  if (gemm.terms > 0) {
    const int64_t grain = DivideUp(kPackElements, padded);
    const int64_t parts = DivideUp(gemm.terms, grain);
    ParallelFor(parts, [&](int64_t part) {
      gemm.kernels->pack_b(gemm, b, part * grain, std::min((part + 1) * grain, gemm.terms),
                           packed_b);
    });
  }
  const int64_t items = static_cast<int64_t>(gemm.blocks.size()) * gemm.column_groups;
  const int64_t group_panels = GroupPanels(gemm);
  ParallelFor(gemm.bodies, [&](int64_t body) {
    float* own = bodies + body * BodyElements(gemm);
    const int64_t end = BlockBegin(items, gemm.bodies, body + 1);
    for (int64_t item = BlockBegin(items, gemm.bodies, body); item < end; ++item) {
      const int64_t group = item % gemm.column_groups;
      gemm.kernels->multiply({
          .gemm = &gemm,
          .block = gemm.blocks[static_cast<size_t>(item / gemm.column_groups)],
          .panel_begin = std::min(group * group_panels, gemm.panels),
          .panel_end = std::min((group + 1) * group_panels, gemm.panels),
          .a = a,
          .b = packed_b,
          .bias = gemm.has_bias ? packed_bias : nullptr,
          .c = c,
          .packed = own,
          .partials = own + kGemmRows * kGemmUnit,
      });
    }
  });
}

}  // namespace openaclnn
