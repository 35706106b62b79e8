// SPDX-License-Identifier: Apache-2.0
// Matrix products: how the work is cut, and the parts of the scratch.
#include "kernels/gemm.h"

#include <algorithm>
#include <bit>

#include "kernels/parallel.h"
#include "kernels/scratch.h"

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

/// The groups from merged_begin to merged_end have all places, which makes their terms the same.
void MergeGroups(Gemm* gemm) {
  const GemmRows& rows = gemm->rows;
  const auto clamped = [&](__int128 group) {
    return static_cast<int64_t>(std::clamp<__int128>(group, 0, rows.groups));
  };
  // first + group * step <= 0 and first + group * step + length >= places.
  const __int128 low = rows.step > 0 ? rows.places - rows.length - rows.first : rows.first;
  const __int128 high = (rows.step > 0 ? -rows.first : rows.first + rows.length - rows.places) + 1;
  gemm->merged_begin = clamped(low);
  gemm->merged_end = rows.merge ? std::max(clamped(high), gemm->merged_begin) : gemm->merged_begin;
}

GemmBlock BlockOf(const Gemm& gemm, int64_t index) {
  const GemmRows& rows = gemm.rows;
  const int64_t per_group = DivideUp(rows.group_rows, kGemmRows);
  const int64_t before = gemm.merged_begin * per_group;
  const int64_t merged =
      DivideUp((gemm.merged_end - gemm.merged_begin) * rows.group_rows, kGemmRows);
  int64_t group = index / per_group, end = group + 1, part = index % per_group;
  if (index >= before + merged) {
    group = gemm.merged_end + (index - before - merged) / per_group;
    end = group + 1;
    part = (index - before - merged) % per_group;
  } else if (index >= before) {
    group = gemm.merged_begin;
    end = gemm.merged_end;
    part = index - before;
  }
  const __int128 first = rows.first + static_cast<__int128>(group) * rows.step;
  const auto place = [&](__int128 at) {
    return static_cast<int64_t>(std::clamp<__int128>(at, 0, rows.places)) * rows.place_terms;
  };
  const int64_t row = group * rows.group_rows + part * kGemmRows;
  return {row, std::min(row + kGemmRows, end * rows.group_rows), place(first),
          place(first + rows.length)};
}

}  // namespace

uint64_t Gemm::scratch_bytes() const {
  if (bodies == 0) return 0;
  const __int128 padded = PaddedColumns(*this);
  const __int128 elements = padded * terms + padded + bodies * BodyElements(*this);
  return ScratchBytes(elements * static_cast<int>(sizeof(float)));
}

void PlanGemm(Gemm* gemm) {
  gemm->kernels = OPENACLNN_TARGET_SELECT(kGemmKernels);
  gemm->panels = DivideUp(gemm->columns, gemm->kernels->tile_columns);
  MergeGroups(gemm);
  const GemmRows& rows = gemm->rows;
  const int64_t merged = gemm->merged_end - gemm->merged_begin;
  gemm->blocks = (rows.groups - merged) * DivideUp(rows.group_rows, kGemmRows) +
                 DivideUp(merged * rows.group_rows, kGemmRows);
  gemm->column_groups = std::min(DivideUp(kWantedItems, gemm->blocks), gemm->panels);
  gemm->bodies = std::min(gemm->blocks * gemm->column_groups, kMaxBodies);
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
  const int64_t items = gemm.blocks * gemm.column_groups;
  const int64_t group_panels = GroupPanels(gemm);
  ParallelFor(gemm.bodies, [&](int64_t body) {
    float* own = bodies + body * BodyElements(gemm);
    const int64_t end = BlockBegin(items, gemm.bodies, body + 1);
    for (int64_t item = BlockBegin(items, gemm.bodies, body); item < end; ++item) {
      const int64_t group = item % gemm.column_groups;
      gemm.kernels->multiply({
          .gemm = &gemm,
          .block = BlockOf(gemm, item / gemm.column_groups),
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
