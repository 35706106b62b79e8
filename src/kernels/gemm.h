// SPDX-License-Identifier: Apache-2.0
// Matrix products whose operands are rows of tensors, shifted tap by tap: C = A B + bias.
#pragma once

#include <cstdint>

#include "kernels/strided.h"
#include "kernels/target.h"

namespace openaclnn {

/// What elements are rounded to (nearest, ties to even) before they are multiplied.
enum class Rounding { kNone, kHf32, kFloat16 };

/// A matrix that is read from rows of a tensor: element (i, j) is element j % width of row
/// i + shift + j / width * step. One step of j / width is a tap. `transposed`: element (j, i).
struct TapMatrix {
  RowView view;
  int32_t dtype;
  Rounding rounding;
  int64_t width, shift, step;
  bool transposed;
};

/// C's rows in groups, and which terms a group's sums have: the places [first + group * step,
/// first + group * step + length) as far as they lie in [0, places), of place_terms terms each.
/// Without terms a row is the bias, or 0. `step` is 1 or -1.
struct GemmRows {
  int64_t groups, group_rows;
  __int128 first;
  int64_t step, length, places, place_terms;
  bool merge;  // groups with all places may share blocks
};

/// Rows of C that are worked on together, and their terms.
struct GemmBlock {
  int64_t row_begin, row_end, term_begin, term_end;
};

/// The one tree of a sum: 64 products in sequence, chunks pairwise. Sixteen chunks are a unit,
/// whose packed operands stay in the second-level cache; units are added pairwise as well.
inline constexpr int64_t kGemmChunk = 64;
inline constexpr int64_t kGemmUnit = 16 * kGemmChunk;

/// Rows of C that share a packed block of A: a multiple of every target's rows of a tile.
inline constexpr int64_t kGemmRows = 48;

/// What is frozen when the call is planned; all zeros: nothing to do.
struct Gemm {
  const struct GemmKernels* kernels;
  TapMatrix a;  // transposed: a group of rows lies within one tap
  TapMatrix b;  // not transposed: its rows are the tensor's
  RowView c;
  int32_t c_dtype;
  bool has_bias;
  int32_t bias_dtype;
  int64_t bias_step;
  int64_t terms, columns;
  GemmRows rows;

  int64_t merged_begin, merged_end;  // groups that share blocks
  int64_t blocks;                    // of at most kGemmRows rows
  int64_t panels;                    // groups of columns of a tile
  int64_t column_groups;             // parts of all panels that a block is worked on in
  int64_t bodies;                    // pieces of parallel work

  /// At most INT64_MAX, which no device has.
  uint64_t scratch_bytes() const;
};

/// Completes the plan from a, b, c, the bias, terms, columns and rows; none of them is empty but
/// the terms.
void PlanGemm(Gemm* gemm);

/// Writes every row. `scratch` has scratch_bytes().
void RunGemm(const Gemm& gemm, const void* a, const void* b, const void* bias, void* c,
             void* scratch);

/// A block's work, for some panels.
struct GemmWork {
  const Gemm* gemm;
  GemmBlock block;
  int64_t panel_begin, panel_end;
  const void* a;
  const float* b;     // packed
  const float* bias;  // null: none
  void* c;
  float* packed;    // for a unit of A
  float* partials;  // for the sums of units
};

/// The loops that are compiled for each instruction set.
struct GemmKernels {
  int64_t tile_columns;
  /// Packs terms [begin, end) of B: panel by panel, tile_columns elements for each term.
  void (*pack_b)(const Gemm& gemm, const void* b, int64_t begin, int64_t end, float* packed);
  void (*widen)(const void* from, int64_t step, int32_t dtype, int64_t n, float* to);
  void (*multiply)(const GemmWork& work);
};
OPENACLNN_TARGET_DECLARE(extern const GemmKernels kGemmKernels)

}  // namespace openaclnn
