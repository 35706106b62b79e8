// SPDX-License-Identifier: Apache-2.0
// Matrix products whose operands are rows of tensors, shifted tap by tap: C = alpha A B + beta D.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/move/strided.h"
#include "kernels/number/rounding.h"
#include "kernels/simd/target.h"

namespace openaclnn {

/// A matrix that is read from rows of a tensor: element (i, j) is element j % width of row
/// i + shift + j / width * step. One step of j / width is a tap. `transposed`: element (j, i).
struct TapMatrix {
  RowView view;
  int32_t dtype;
  Rounding rounding;
  int64_t width, shift, step;
  bool transposed;
};

/// One dimension of an image, and of the windows that go along it. Tap t of place p reads
/// coordinate (p * stride - pad + t * dilation) / divisor; where that is not a whole number in [0,
/// in) the element is zero. A divisor other than 1 comes with a stride of 1.
struct GemmAxis {
  int64_t in = 1, out = 1, taps = 1;
  int64_t stride = 1, pad = 0, dilation = 1;  // pad and dilation may be negative
  int64_t divisor = 1;
  int64_t step = 0;  // elements between neighbours of the image
};

/// B as windows of images. The windows are not stored; packing reads them from the image. B's rows
/// are channels by taps, and its columns are the places of one image; each batch of B is an image.
/// Transposed, rows are images by places and columns are channels by taps.
struct GemmWindows {
  std::array<GemmAxis, 3> axes;  // the slowest one first
  int64_t channel_step, image_step;
  int64_t taps, places;  // of all axes together
};

/// D, the matrix that is added to a product. It has C's shape; steps of 0 broadcast it.
struct GemmAddend {
  RowView view;
  int32_t dtype;
};

/// Products of one shape, each with its own matrices. The offsets lead to their first elements.
struct GemmBatches {
  int64_t count = 1;
  Offsets a, b, c, added;
};

/// C's rows in groups. A group sums the terms of the places [first + group * step, first + group *
/// step + length) that lie in [0, places). A place has place_terms terms. A sum without terms is 0.
/// `step` is 1 or -1.
struct GemmRows {
  int64_t groups, group_rows;
  __int128 first;
  int64_t step, length, places, place_terms;
  bool merge;  // groups with all places may share blocks
};

/// All rows have all terms.
inline GemmRows RowsOfAll(int64_t rows, int64_t terms) {
  return {.groups = 1,
          .group_rows = rows,
          .first = 0,
          .step = 1,
          .length = 1,
          .places = 1,
          .place_terms = terms,
          .merge = false};
}

/// Rows of C that are worked on together, and their terms.
struct GemmBlock {
  int64_t row_begin, row_end, term_begin, term_end;
};

/// Every sum is evaluated as this tree. A chunk is 64 products, added in sequence; of each pair of
/// products the second is added first. Chunks are added pairwise. Sixteen chunks are a unit, whose
/// packed operands stay in the second-level cache. Units are added pairwise too, so any power of
/// two gives the same bits. Speeds, measured as in gemm_plan.cc: 4 chunks 0.91 to 1.01, 8: 0.97
/// to 1.03, 32: 0.99 to 1.02 with twice the scratch.
inline constexpr int64_t kGemmChunk = 64;
inline constexpr int64_t kGemmUnit = 16 * kGemmChunk;

/// Two BFLOAT16 operands are summed in another order within a unit, that of Intel's tile registers
/// (TDPBF16PS). A block is 32 terms. One chain of FMAs, from zero, adds the terms at even places; a
/// second chain adds those at odd places. The sum of both chains is added to the sum of the
/// previous blocks, which starts at zero.
inline constexpr int64_t kGemmBlock = 32;

/// The most rows of C that share a packed block of A. This number, its half and its quarter are
/// multiples of the tile's rows for every target. Speeds, measured as in gemm_plan.cc: 24: 0.97 to
/// 1.07, 96: 0.91 to 1.01, 192: 0.86 to 0.98.
inline constexpr int64_t kGemmRows = 48;

/// The most rows of C that share a packed block of A where tile registers multiply. A tile register
/// has kGemmRegisterRows rows. Gradients of 26 GFLOP on one core of a Sapphire Rapids: 64: 0.94,
/// 256: 1.0.
inline constexpr int64_t kGemmRowsOfTiles = 128;
inline constexpr int64_t kGemmRegisterRows = 16;

/// How operands are packed. kFloats: as floats. kPairs: two BFLOAT16 terms in the place of a float,
/// for dot products of pairs (AVX-512). kTiles: the same, for tile registers (AMX).
enum class GemmOperands { kFloats, kPairs, kTiles };

/// How B is packed. A body is one of the product's parallel workers.
/// kShared: all bodies pack parts of one B, then all read it. kBatch: a body packs a group of
/// columns of a batch for itself. kUnit: a body packs a unit of its panels at a time, if C has at
/// most one block of rows.
enum class GemmPacking { kShared, kBatch, kUnit };

/// A planned product. It does not change after planning. All zeros mean that nothing has to be
/// done.
struct Gemm {
  const struct GemmKernels* kernels;
  TapMatrix a;           // transposed: a group of rows lies within one tap
  TapMatrix b;           // not transposed: its rows are the tensor's
  bool through_windows;  // B is `windows`; of b the type, the rounding and `transposed` count
  GemmWindows windows;
  RowView c;
  int64_t c_run = INT64_MAX;  // columns that lie c.step apart; such runs begin at c_runs
  Offsets c_runs;
  int32_t c_dtype;
  bool adds;  // `added` takes part
  GemmAddend added;
  float alpha = 1, beta = 1;
  int64_t terms, columns;
  GemmRows rows;
  GemmBatches batches;
  uint64_t most_bytes = UINT64_MAX;  // the scratch's wanted limit; UINT64_MAX: none

  bool chains;  // the order of BFLOAT16: see kGemmBlock
  GemmOperands operands;
  bool added_once;                   // all rows add the same
  int64_t plain_step;                // elements between rows of A that are not packed; 0: all are
  int64_t merged_begin, merged_end;  // groups that share blocks
  int64_t block_rows;                // at most kGemmRows, or kGemmRowsOfTiles
  int64_t blocks;                    // of at most block_rows rows
  int64_t panels;                    // groups of tile_columns columns
  GemmPacking packing;
  int64_t pass_panels;                  // panels of B that are packed at a time
  int64_t segment_units;                // units of a pass that are packed at a time; 0: all
  int64_t first_term, last_first_term;  // the smallest and largest first term of a block
  int64_t column_groups;                // a block's work is cut by these groups of panels
  int64_t rounds;                       // batches are worked on in so many rounds
  int64_t bodies;                       // threads that work on a round in parallel

  /// At most INT64_MAX, which no device has.
  uint64_t scratch_bytes() const;
};

/// Completes a plan whose members before `chains` are set. Rows, columns and batches are not empty;
/// there may be no terms.
void PlanGemm(Gemm* gemm);

/// Writes every row. `added` may be null if nothing is; `scratch` has scratch_bytes().
void RunGemm(const Gemm& gemm, const void* a, const void* b, const void* added, void* c,
             void* scratch);

/// The terms and panels of a part of B.
struct GemmPart {
  int64_t term_begin, term_end, panel_begin, panel_end;
};

/// Where B is packed, panel by panel. A panel has tile_columns elements for each of `terms` terms.
/// The last panel has only the columns that are left; its rows are read as if they were whole, so
/// tile_columns elements must follow them. In pairs, two terms take the place of a float, the first
/// one the lower half, and `least` has the least magnitude of each chunk of each panel.
struct GemmPacked {
  float* data;
  uint16_t* least;
  int64_t panel, term;  // the first ones
  int64_t terms;
};

/// A block's work, for some panels.
struct GemmWork {
  const Gemm* gemm;
  GemmBlock block;
  int64_t panel_begin, panel_end;
  int64_t unit_begin, unit_end;  // of the block's terms; unit_end may be larger than their number
  const void* a;
  const void* b;           // kUnit: to be packed
  GemmPacked packed_b;     // kUnit: a place for a unit
  const void* added;       // null: nothing
  const float* added_row;  // the addend of every row; null: rows have different ones
  void* c;
  float* packed_a;  // a unit of the block
  float* partials;  // sums of units
};

/// The loops that are compiled for each instruction set.
struct GemmKernels {
  int64_t tile_rows, tile_columns;
  bool pairs;  // there are loops for pairs of BFLOAT16
  void (*pack_b)(const Gemm& gemm, const void* b, const GemmPart& part, const GemmPacked& packed);
  void (*widen)(const void* from, int64_t step, int32_t dtype, int64_t n, float* to);
  void (*multiply)(const GemmWork& work);
};
OPENACLNN_TARGET_DECLARE(extern const GemmKernels kGemmKernels)

}  // namespace openaclnn
