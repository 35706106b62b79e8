// SPDX-License-Identifier: Apache-2.0
// Matrix products: how the work is cut.
#include <algorithm>
#include <initializer_list>

#include "common/tile_registers.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_layout.h"
#include "kernels/work/scratch.h"

namespace openaclnn {
namespace gemm {
namespace {

// The figures are speeds relative to the chosen value: processor time of one thread of a Xeon with
// AVX-512 and 2 MB of second-level cache, runs interleaved. "two": elapsed time of two threads.

// Pieces of work that a product is cut into. 8: 1.00 to 1.23, 32: 0.93 to 1.10, 64: 0.86 to 1.12;
// fewer would leave threads idle.
constexpr int64_t kWantedItems = 16;
// Pieces of work with tile registers. Fewer, because pieces that share rows each pack A: 16: 0.9,
// 4: 1.0.
constexpr int64_t kWantedItemsOfTiles = 8;
// The most threads of a product. 4, 8, 16: 0.98 to 1.04.
constexpr int64_t kMaxBodies = 32;
// Elements of B that are packed before they are multiplied. 1 Mi: 0.93 to 1.00, 4 Mi: 0.84 to 1.05,
// 16 Mi: 0.82 to 0.99.
constexpr int64_t kPassElements = 2 << 20;
// The least columns of a pass, since A is packed again for each pass. 64: 0.69 to 0.93, 128: 0.89
// to 1.07, 512: 0.95 to 1.03.
constexpr int64_t kPassColumns = 256;
// The most elements of B that a body packs for one batch. Without this way: 0.83 to 0.98, two: 0.39
// to 0.86.
constexpr int64_t kBatchElements = 1 << 18;
// Elements that a body packs from an image's windows; at least kLeastWindowColumns columns.
constexpr int64_t kWindowElements = 1 << 20;
constexpr int64_t kLeastWindowColumns = 128;
// Columns of B that a body packs with kUnit. 32: 0.89 to 0.99, 256: 0.92 to 1.05, 512: 0.82
// to 1.08.
constexpr int64_t kUnitColumns = 128;

// The least columns of a pass if the scratch would be larger than most_bytes.
constexpr int64_t kFewPassColumns = 128;
constexpr int64_t kLeastPassColumns = 64;
// Bytes that the scratch may always have, even if most_bytes is less. Tile registers are so fast
// that packing A again for each pass takes as long as the products: gradients of 26 GFLOP 0.83 with
// 2 MB.
constexpr uint64_t kLeastBytes = 256 << 10;
constexpr uint64_t kLeastBytesOfTiles = 16 << 20;
// Bytes that the scratch may always have if A is packed and passes have kFewPassColumns.
constexpr uint64_t kLeastPackedBytes = 512 << 10;

/// Finds the groups [merged_begin, merged_end), which have all places and therefore the same terms.
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

/// Whether each body packs the windows of a group of columns of an image.
bool PacksWindows(const Gemm& gemm) { return gemm.through_windows && !gemm.b.transposed; }

// The most columns with which A is read in place. Its speed against packing with 64 columns: 1.16,
// 256: 1.04, 512: 1.05, 768: 1.01, 4096: 0.97.
constexpr int64_t kPlainColumns = 1024;

/// Elements between A's rows if A is read in place, else 0. A must be FLOAT with equally spaced
/// rows, and a chunk must lie within a tap. Rows at multiples of 2 KB would share few sets of a
/// first-level cache. With narrow tiles A is read more often, and multiples of 1 KB are slow too:
/// packing is 1.03 to 1.2 times as fast on a Zen 3.
int64_t PlainStep(const Gemm& gemm) {
  const bool narrow = TileColumns(gemm) < 32;
  const int64_t shared = (narrow ? 1024 : 2048) / sizeof(float);
  const TapMatrix& a = gemm.a;
  const bool plain = a.dtype == ACL_FLOAT && a.rounding == Rounding::kNone && a.view.step == 1 &&
                     (gemm.columns <= kPlainColumns || PacksWindows(gemm)) &&
                     (a.transposed || a.width % kGemmChunk == 0 || a.width >= gemm.terms);
  const int64_t step = a.view.rows.step();
  return plain && step % shared != 0 ? step : 0;
}

bool IsBFloat16(const TapMatrix& matrix) {
  return matrix.dtype == ACL_BF16 && matrix.rounding == Rounding::kNone;
}

/// Pairs of A begin with a block's first term, and pairs of B with the first of all terms. Both
/// must be the same, so blocks must begin at even terms.
GemmOperands OperandsOf(const Gemm& gemm) {
  const bool begins = gemm.rows.places == 1 || gemm.rows.place_terms % 2 == 0;
  if (!gemm.chains || !gemm.kernels->pairs || !begins) return GemmOperands::kFloats;
  if (Simd() == OPENACLNN_SIMD_AMX && HasTileRegisters()) return GemmOperands::kTiles;
  return Simd() == OPENACLNN_SIMD_AVX512_BF16 ? GemmOperands::kPairs : GemmOperands::kFloats;
}

/// The most rows of C that share a packed block of A.
int64_t MostRows(const Gemm& gemm) {
  return gemm.operands == GemmOperands::kTiles ? kGemmRowsOfTiles : kGemmRows;
}

void CutBlocks(Gemm* gemm, int64_t block_rows) {
  const GemmRows& rows = gemm->rows;
  const int64_t merged = gemm->merged_end - gemm->merged_begin;
  gemm->block_rows = block_rows;
  gemm->blocks = (rows.groups - merged) * DivideUp(rows.group_rows, block_rows) +
                 DivideUp(merged * rows.group_rows, block_rows);
}

bool OwnB(const Gemm& gemm) { return gemm.batches.count > 1 && !gemm.batches.b.constant(); }

/// Cuts the work into pieces that run in parallel.
void CutItems(Gemm* gemm, int64_t least_groups) {
  const bool whole = gemm->packing == GemmPacking::kBatch && !PacksWindows(*gemm);
  gemm->rounds = OwnB(*gemm) && gemm->packing == GemmPacking::kShared ? gemm->batches.count : 1;
  const int64_t threads = std::min<int64_t>(Meta()->runtime->threads(), kMaxBodies);
  // One thread has nothing to balance, and pieces that share rows would each pack A. One piece:
  // gradients of products of 50 MFLOP on a Zen 3 1.07 to 1.15 times as fast.
  const bool tiles = gemm->operands == GemmOperands::kTiles;
  const int64_t wanted = threads == 1 ? 1 : tiles ? kWantedItemsOfTiles : kWantedItems;
  const int64_t blocks = gemm->packing == GemmPacking::kBatch ? 1 : gemm->blocks;
  const int64_t groups = std::max(DivideUp(wanted, RoundBatches(*gemm) * blocks), least_groups);
  gemm->column_groups = whole ? 1 : std::min(groups, gemm->pass_panels);
  gemm->bodies = std::min(RoundItems(*gemm), threads);
}

bool Fits(const Gemm& gemm) {
  const bool tiles = gemm.operands == GemmOperands::kTiles;
  const uint64_t most = std::max(gemm.most_bytes, tiles ? kLeastBytesOfTiles : kLeastBytes);
  return gemm.most_bytes == UINT64_MAX ||
         ScratchElements(gemm) * static_cast<int>(sizeof(float)) <= most;
}

/// Cuts B into passes, perhaps with segments. Returns whether the scratch fits.
bool CutPasses(Gemm* gemm, int64_t block_rows, int64_t passes, int64_t segment_units) {
  CutBlocks(gemm, block_rows);
  gemm->pass_panels = DivideUp(gemm->panels, passes);
  gemm->segment_units = segment_units;
  CutItems(gemm, 1);
  return Fits(*gemm);
}

/// Cuts B into the fewest passes that fit, each of at least least_columns columns. Returns whether
/// one fits.
bool CutInPasses(Gemm* gemm, std::initializer_list<int64_t> block_rows, int64_t first,
                 int64_t least_columns) {
  const int64_t least = DivideUp(std::min(gemm->columns, least_columns), TileColumns(*gemm));
  for (int64_t passes = first; passes <= gemm->panels; passes += DivideUp(passes, 16)) {
    if (DivideUp(gemm->panels, passes) < least) return false;
    for (const int64_t rows : block_rows) {
      if (CutPasses(gemm, rows, passes, 0)) return true;
    }
  }
  return false;
}

/// Cuts B into passes and the longest segments that fit. Sums wait in memory from one segment to
/// the next. Returns whether one fits.
bool CutInSegments(Gemm* gemm) {
  // At most an eighth is packed twice: a segment begins before all blocks' units of the previous
  // one end.
  const int64_t overlap = gemm->last_first_term - gemm->first_term;
  const int64_t least = std::max<int64_t>(DivideUp(overlap, kGemmUnit / 8), 1);
  const int64_t most = (gemm->terms - gemm->first_term) / kGemmUnit;
  for (int64_t passes = 1; passes <= gemm->panels; passes += DivideUp(passes, 16)) {
    const int64_t columns = DivideUp(gemm->panels, passes) * TileColumns(*gemm);
    if (passes > 1 && columns < kPassColumns) break;
    for (const int64_t rows : {MostRows(*gemm), MostRows(*gemm) / 2, MostRows(*gemm) / 4}) {
      int64_t units = std::min(most, kPassElements / kGemmUnit / columns);
      for (; units >= least; units -= DivideUp(units, 8)) {
        if (CutPasses(gemm, rows, passes, units)) return true;
      }
    }
  }
  return false;
}

/// Cuts the columns into groups; a body packs the windows of a group.
void CutWindows(Gemm* gemm) {
  gemm->packing = GemmPacking::kBatch;
  gemm->pass_panels = gemm->panels;
  int64_t columns = kWindowElements / std::max<int64_t>(gemm->terms, 1);
  columns = std::clamp(columns, kLeastWindowColumns, kPassColumns);
  for (; columns >= kLeastWindowColumns / 2; columns /= 2) {
    CutItems(gemm, DivideUp(gemm->columns, columns));
    if (Fits(*gemm)) return;
  }
}

/// Chooses how B is packed, how much of it at a time, and the pieces of parallel work.
void Cut(Gemm* gemm) {
  const int64_t terms = std::max<int64_t>(gemm->terms, 1);
  const GemmBatches& batches = gemm->batches;
  const int64_t rows = MostRows(*gemm);
  gemm->packing = GemmPacking::kShared;
  CutBlocks(gemm, rows);
  if (PacksWindows(*gemm)) return CutWindows(gemm);
  if (gemm->blocks == 1 && (OwnB(*gemm) || batches.count == 1)) {
    gemm->packing = GemmPacking::kUnit;
  } else if (OwnB(*gemm) && batches.count >= kWantedItems &&
             kBatchElements / terms >= gemm->columns) {
    gemm->packing = GemmPacking::kBatch;
  }
  if (gemm->packing != GemmPacking::kShared) {
    gemm->pass_panels = gemm->panels;
    for (int64_t columns = kUnitColumns; columns >= kUnitColumns / 4; columns /= 2) {
      CutItems(gemm, gemm->packing == GemmPacking::kUnit ? DivideUp(gemm->columns, columns) : 1);
      if (Fits(*gemm)) return;
    }
    return;
  }
  const int64_t pass_elements = kPassElements * (InPairs(*gemm) ? 2 : 1);
  const int64_t pass_columns = std::max(pass_elements / terms, kPassColumns);
  const int64_t first = DivideUp(gemm->panels, DivideUp(pass_columns, TileColumns(*gemm)));
  // If A is not packed, another pass costs next to nothing.
  const int64_t least = gemm->plain_step != 0 ? kLeastPassColumns : kPassColumns;
  if (CutInPasses(gemm, {rows, rows / 2}, first, least) || CutInSegments(gemm) ||
      CutInPasses(gemm, {rows, rows / 2}, first, kFewPassColumns)) {
    return;
  }
  const auto few = [&](int64_t columns, int64_t block_rows) {
    CutPasses(gemm, block_rows, DivideUp(gemm->columns, columns), 0);
    return gemm->scratch_bytes() <= kLeastPackedBytes;
  };
  if (few(kFewPassColumns, rows / 2) ||
      CutInPasses(gemm, {rows, rows / 2, rows / 4}, first, kLeastPassColumns) ||
      few(kLeastPassColumns, rows) || few(kLeastPassColumns, rows / 2)) {
    return;
  }
  CutPasses(gemm, rows / 4, DivideUp(gemm->columns, kLeastPassColumns), 0);
}

void Plan(Gemm* gemm) {
  gemm->kernels = OPENACLNN_TARGET_SELECT(kGemmKernels);
  // Without terms A and B have no elements, and may have no address.
  if (gemm->terms == 0) gemm->batches.a = gemm->batches.b = {};
  gemm->added_once =
      gemm->adds && gemm->added.view.rows.constant() && gemm->batches.added.constant();
  gemm->chains = IsBFloat16(gemm->a) && IsBFloat16(gemm->b);
  gemm->operands = OperandsOf(*gemm);
  gemm->plain_step = PlainStep(*gemm);
  MergeGroups(gemm);
  const int64_t ends[] = {TermsOf(gemm->rows, 0).term_begin,
                          TermsOf(gemm->rows, gemm->rows.groups - 1).term_begin};
  gemm->first_term = std::min(ends[0], ends[1]);
  gemm->last_first_term = std::max(ends[0], ends[1]);
  gemm->panels = DivideUp(gemm->columns, TileColumns(*gemm));
  Cut(gemm);
}

}  // namespace
}  // namespace gemm

uint64_t Gemm::scratch_bytes() const {
  if (bodies == 0) return 0;
  return ScratchBytes(gemm::ScratchElements(*this) * static_cast<int>(sizeof(float)));
}

void PlanGemm(Gemm* planned) { gemm::Plan(planned); }

}  // namespace openaclnn
