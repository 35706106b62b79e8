// SPDX-License-Identifier: Apache-2.0
// Matrix products: the loops over tiles, and the stores of their sums, for one instruction set.
#include <algorithm>

#include "kernels/gemm/gemm_windows-inl.h"
#if defined(OPENACLNN_PAIRS)
#include "kernels/gemm/gemm_registers-inl.h"
#endif

namespace openaclnn::OPENACLNN_TARGET {
namespace {

#if defined(OPENACLNN_PAIRS)
constexpr bool kPairs = true;
#else
constexpr bool kPairs = false;
#endif

void WidenRow(const void* from, int64_t step, int32_t dtype, int64_t n, float* to) {
  WithStored(dtype, [&](auto stored) {
    using T = decltype(stored);
    const auto* bytes = static_cast<const std::byte*>(from);
    for (int64_t j = 0; j < n; j += kGemmChunk) {
      Widen<T>(bytes + j * step * static_cast<int64_t>(sizeof(T)), step, Least(kGemmChunk, n - j),
               to + j);
    }
  });
}

/// Turns the sums into alpha * sums + beta * D.
template <class Tile>
void Finish(const GemmWork& work, Tile& tile, int64_t row, int64_t rows, int64_t column,
            int64_t columns) {
  const Gemm& gemm = *work.gemm;
  if (gemm.alpha != 1) {
    const F32x16 alpha = F32x16::Broadcast(gemm.alpha);
    tile.ForEach([&](F32x16& s, int, int) { s = alpha * s; });
  }
  if (work.added == nullptr) return;
  alignas(64) float own[Tile::kRowCount * kTileColumns];
  const float* added = own;
  int64_t step = kTileColumns;
  if (work.added_row != nullptr) {
    added = work.added_row + column;
    step = 0;
  } else {
    tile.ForEach([&](F32x16&, int r, int v) {
      F32x16::Broadcast(0).Store(own + r * kTileColumns + v * kLanes);
    });
    const RowView& view = gemm.added.view;
    for (int64_t r = 0; r < rows; ++r) {
      const std::byte* from = view.Row(const_cast<void*>(work.added), row + r);
      if (view.step == 0) {
        float one;
        WidenRow(from, 1, gemm.added.dtype, 1, &one);
        std::fill_n(own + r * kTileColumns, columns, one);
        continue;
      }
      WidenRow(from + column * view.step * view.element_bytes, view.step, gemm.added.dtype, columns,
               own + r * kTileColumns);
    }
  }
  const F32x16 beta = F32x16::Broadcast(gemm.beta);
  tile.ForEach(
      [&](F32x16& s, int r, int v) { s = s + beta * F32x16::Load(added + r * step + v * kLanes); });
}

/// Stores `columns` elements of a row of C from `column` on.
template <class T>
void StoreColumns(const Gemm& gemm, const T* from, int64_t columns, int64_t column, T* row) {
  while (columns > 0) {
    const int64_t run = column / gemm.c_run, first = column % gemm.c_run;
    const int64_t count = Least(columns, gemm.c_run - first);
    CopyStrided(from, 1, row + gemm.c_runs(run) + first * gemm.c.step, gemm.c.step, count,
                sizeof(T));
    columns -= count;
    column += count;
    from += count;
  }
}

/// Whether `columns` columns of C from `column` on lie in one run. Sets `at` to the element where
/// they begin.
inline bool InOneRun(const Gemm& gemm, int64_t column, int64_t columns, int64_t* at) {
  const int64_t run = column / gemm.c_run, first = column - run * gemm.c_run;
  *at = gemm.c_runs(run) + first * gemm.c.step;
  return columns <= gemm.c_run - first;
}

/// Rounds the tile and stores those of its rows and columns that C has.
template <class Tile>
void Store(const GemmWork& work, Tile& tile, int64_t row, int64_t panel) {
  const int64_t column = panel * kTileColumns;
  const int64_t columns = Least(kTileColumns, work.gemm->columns - column);
  const int64_t rows = Least(Tile::kRowCount, work.block.row_end - row);
  Finish(work, tile, row, rows, column, columns);
  const RowView& view = work.gemm->c;
  int64_t at = 0;
  const bool dense_columns = InOneRun(*work.gemm, column, columns, &at) && view.step == 1;
  WithStored(work.gemm->c_dtype, [&](auto stored) {
    using T = decltype(stored);
    for (int r = 0; r < rows; ++r) {
      T* const to = reinterpret_cast<T*>(view.Row(work.c, row + r));
      T dense[kTileColumns];
      T* const in = dense_columns ? to + at : dense;
      for (int v = 0; v < Tile::kVectorCount; ++v) {
        const F32x16 result = tile.sum[r][v].template AsResult<T>();
        const int64_t left = dense_columns ? columns - v * kLanes : kLanes;
        if (left >= kLanes) {
          result.Store(in + v * kLanes);
        } else if (left > 0) {
          result.StoreTail(in + v * kLanes, left);
        }
      }
      if (!dense_columns) StoreColumns(*work.gemm, dense, columns, column, to);
    }
  });
}

/// Whether the sums of a tile are C's elements: C has FLOAT rows, a whole tile of them, nothing is
/// added and alpha is 1.
template <class Tile>
bool IsPlain(const GemmWork& work, int64_t row, int64_t panel) {
  const Gemm& gemm = *work.gemm;
  int64_t at = 0;
  return InOneRun(gemm, panel * kTileColumns, Tile::kVectorCount * kLanes, &at) &&
         gemm.c_dtype == ACL_FLOAT && gemm.c.step == 1 && gemm.c.rows.step() != 0 &&
         gemm.alpha == 1 && work.added == nullptr && row + Tile::kRowCount <= work.block.row_end &&
         panel * kTileColumns + Tile::kVectorCount * kLanes <= gemm.columns;
}

/// Stores such a tile from its registers.
template <class Tile>
inline __attribute__((always_inline)) void StorePlain(const GemmWork& work, Tile& tile, int64_t row,
                                                      int64_t panel) {
  const RowView& view = work.gemm->c;
  int64_t at = 0;
  InOneRun(*work.gemm, panel * kTileColumns, kTileColumns, &at);
  float* to = reinterpret_cast<float*>(view.Row(work.c, row)) + at;
  const int64_t step = view.rows.step();
  tile.ForEach([&](F32x16& s, int r, int v) {
    s.template AsResult<float>().Store(to + r * step + v * kLanes);
  });
}

template <class Left>
constexpr int64_t kChunkFloats = kGemmChunk* Left::kPackedRows / (Left::kPairs ? 2 : 1);

/// Multiplies one unit of terms of one tile, in chunks of 64 products.
template <class Left, class Tile>
inline __attribute__((always_inline)) void MultiplyChunks(const GemmWork& work, const UnitOfA& a,
                                                          const float* rows_of_a,
                                                          const Panel& panel, int64_t begin,
                                                          int64_t terms, Tile& tile) {
  const int64_t chunks = (terms + kGemmChunk - 1) / kGemmChunk;
  alignas(64) float chunk_sums[4 * Tile::kRowCount * kTileColumns];
  const Waiting waiting = {chunk_sums, Tile::kRowCount * kTileColumns, kTileColumns};
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t offset = Left::kPlain ? a.offsets[chunk] : chunk * kChunkFloats<Left>;
    const int64_t count = Least(kGemmChunk, terms - chunk * kGemmChunk);
    tile.template Multiply<Left::kRowStep, Left::kTermStep>(
        rows_of_a + offset, work.gemm->plain_step, panel.Term(begin + chunk * kGemmChunk),
        panel.step, count);
    tile.Join(waiting, chunk);
    if (chunk + 1 < chunks) tile.Wait(waiting, chunk);
  }
  tile.JoinRest(waiting, chunks - 1);
}

/// Multiplies one unit of BFLOAT16 terms of one tile, in blocks of two chains.
template <class Left, bool kDots, class Tile>
inline __attribute__((always_inline)) void MultiplyChains(const float* rows_of_a,
                                                          const Panel& panel, int64_t begin,
                                                          int64_t terms, Tile& tile) {
  alignas(64) float sums[Tile::kRowCount * kTileColumns] = {};
  for (int64_t at = 0; at < terms; at += kGemmBlock) {
    const int64_t count = Least(kGemmBlock, terms - at);
    const int64_t within = at % kGemmChunk / (Left::kPairs ? 2 : 1) * Left::kTermStep;
    const float* const left = rows_of_a + at / kGemmChunk * kChunkFloats<Left> + within;
    const float* const right = panel.Term(begin + at);
    tile.AddBlock(
        sums, [&](int parity) __attribute__((always_inline)) {
          if constexpr (Left::kPairs) {
#if defined(OPENACLNN_PAIRS)
            const auto* const a = reinterpret_cast<const uint32_t*>(left);
            const auto* const b = reinterpret_cast<const uint32_t*>(right);
            if constexpr (kDots) {
              MultiplyByDots<Left>(tile, a, b, panel.step, count, parity);
            } else {
              MultiplyByFmas<Left>(tile, a, b, panel.step, count, parity);
            }
#endif
          } else {
            tile.template MultiplyChain<Left::kRowStep, 2 * Left::kTermStep>(
                left + parity * Left::kTermStep, right + parity * panel.step, 2 * panel.step,
                (count + 1 - parity) / 2);
          }
        });
  }
}

/// Adds a tile's unit to the sums of the units before it. After the last unit, stores the tile.
template <class Tile>
inline __attribute__((always_inline)) void EndUnit(const GemmWork& work, Tile& tile, int64_t unit,
                                                   int64_t row, int64_t panel) {
  const GemmBlock& block = work.block;
  const int64_t group_columns = (work.panel_end - work.panel_begin) * kTileColumns;
  const int64_t first = row - block.row_begin;
  const Waiting waiting = {
      work.partials + first * group_columns + (panel - work.panel_begin) * kTileColumns,
      work.gemm->block_rows * group_columns, group_columns};
  tile.Join(waiting, unit);
  if (block.term_begin + (unit + 1) * kGemmUnit < block.term_end) return tile.Wait(waiting, unit);
  tile.JoinRest(waiting, unit);
  if (IsPlain<Tile>(work, row, panel)) return StorePlain(work, tile, row, panel);
  Tile done = tile;  // Store needs an address; `tile` can stay in registers
  Store(work, done, row, panel);
}

/// Multiplies one unit of terms of one tile, and ends the unit.
template <class Left, int kRows, int kVectors, bool kDots>
void MultiplyTile(const GemmWork& work, const UnitOfA& a, const GemmPacked& packed_b, int64_t unit,
                  int64_t row, int64_t panel) {
  const GemmBlock& block = work.block;
  const int64_t begin = block.term_begin + unit * kGemmUnit;
  const int64_t terms = Least(kGemmUnit, block.term_end - begin), first = row - block.row_begin;
  constexpr int64_t kPacked = Left::kPackedRows;
  const float* rows_of_a = a.packed + (first / kPacked - a.first_tile) * a.tile_floats;
  if constexpr (Left::kPlain) {
    rows_of_a = a.plain + first * (Left::kRowStep != 0 ? Left::kRowStep : work.gemm->plain_step);
  } else if constexpr (kPacked != kTileRows) {
    rows_of_a += first % kPacked * Left::kRowStep;
  }
  const Panel place(*work.gemm, packed_b, panel);
  Tile<kRows, kVectors> tile;
  if constexpr (Left::kChains) {
    MultiplyChains<Left, kDots>(rows_of_a, place, begin, terms, tile);
  } else {
    MultiplyChunks<Left>(work, a, rows_of_a, place, begin, terms, tile);
  }
  EndUnit(work, tile, unit, row, panel);
}

#if defined(OPENACLNN_PAIRS)
/// Multiplies one unit of terms of a panel for all rows of a block by tile registers. Takes
/// kRegisterTerms terms at a time; the sums of the rows wait in the first-level cache.
template <int kVectors>
void MultiplyRowsInRegisters(const GemmWork& work, const UnitOfA& a, const GemmPacked& packed_b,
                             int64_t unit, int64_t panel) {
  const GemmBlock& block = work.block;
  const int64_t begin = block.term_begin + unit * kGemmUnit;
  const int64_t terms = Least(kGemmUnit, block.term_end - begin);
  const int64_t rows = block.row_end - block.row_begin;
  const Panel place(*work.gemm, packed_b, panel);
  const LastBlockOfB last(place, begin, terms);
  alignas(64) float sums[kGemmRowsOfTiles * kTileColumns];
  for (int64_t at = 0; at < terms; at += kRegisterTerms) {
    TermsOfB terms_of_b = {&place, begin, at, Least(at + kRegisterTerms, terms), &last, nullptr};
    const float* const next = place.Term(begin + at) + (packed_b.terms + 1) / 2 * kTileColumns;
    for (int64_t row = 0; row < rows; row += 2 * kGemmRegisterRows) {
      const float* const left = a.packed + row / kGemmRegisterRows * a.tile_floats;
      terms_of_b.later = next + row / (2 * kGemmRegisterRows) % 4 * kQuarterOfBlock;
      const bool one = rows - row <= kGemmRegisterRows;
      (one ? AddInRegisters<1, kVectors> : AddInRegisters<2, kVectors>)(left, a.tile_floats,
                                                                        terms_of_b,
                                                                        sums + row * kTileColumns);
    }
  }
  constexpr int kRows = 8;
  for (int64_t row = 0; row < rows; row += kRows) {
    Tile<kRows, kVectors> tile;
    const float* const from = sums + row * kTileColumns;
    tile.ForEach(
        [&](F32x16& s, int r, int v) { s = F32x16::Load(from + r * kTileColumns + v * kLanes); });
    EndUnit(work, tile, unit, block.row_begin + row, panel);
  }
}
#endif

void PackB(const Gemm& gemm, const void* b, const GemmPart& part, const GemmPacked& packed) {
#if defined(OPENACLNN_PAIRS)
  if (gemm.operands != GemmOperands::kFloats) return PackPairsOfB(gemm, b, part, packed);
#endif
  gemm.through_windows ? PackWindows(gemm, b, part, packed) : PackFloatsOfB(gemm, b, part, packed);
}

template <class Left, int kVectors, bool kDots>
void MultiplyRows(const GemmWork& work, const UnitOfA& a, const GemmPacked& packed_b, int64_t unit,
                  int64_t panel) {
  using Rest = typename Left::Rest;
  const GemmBlock& block = work.block;
  if constexpr (Left::kPackedRows != kTileRows) {
    constexpr int kRows = Left::kPackedRows / 2;
    for (int64_t row = block.row_begin; row < block.row_end; row += kRows) {
      MultiplyTile<Left, kRows, kVectors, kDots>(work, a, packed_b, unit, row, panel);
    }
  } else {
    for (int64_t row = block.row_begin; row < block.row_end; row += kTileRows) {
      const int64_t left = block.row_end - row;
      const auto multiply = left >= kTileRows  ? MultiplyTile<Left, kTileRows, kVectors, kDots>
                            : left <= kFewRows ? MultiplyTile<Rest, kFewRows, kVectors, kDots>
                                               : MultiplyTile<Rest, kTileRows, kVectors, kDots>;
      multiply(work, a, packed_b, unit, row, panel);
    }
  }
}

/// Multiplies a panel. If at most half its columns are left, tiles have half the width. `exact`:
/// dot products give the bits of FMAs.
template <class Left>
void MultiplyPanel(const GemmWork& work, const UnitOfA& a, const GemmPacked& packed_b, int64_t unit,
                   int64_t panel, [[maybe_unused]] bool exact) {
  const bool narrow = work.gemm->columns - panel * kTileColumns <= kLanes;
  const auto multiply = [&](const auto& one, const auto& all) {
    (narrow ? one : all)(work, a, packed_b, unit, panel);
  };
#if defined(OPENACLNN_PAIRS)
  if constexpr (Left::kPairs) {
    if (exact && Left::kTiles) {
      return multiply(MultiplyRowsInRegisters<1>, MultiplyRowsInRegisters<kTileVectors>);
    }
    if (exact) return multiply(MultiplyRows<Left, 1, true>, MultiplyRows<Left, kTileVectors, true>);
  }
#endif
  multiply(MultiplyRows<Left, 1, false>, MultiplyRows<Left, kTileVectors, false>);
}

template <class Left>
void MultiplyBlock(const GemmWork& work) {
  const GemmBlock& block = work.block;
  const int64_t units = (block.term_end - block.term_begin + kGemmUnit - 1) / kGemmUnit;
  for (int64_t unit = work.unit_begin; unit < Least(work.unit_end, units); ++unit) {
    const int64_t begin = block.term_begin + unit * kGemmUnit;
    const int64_t end = Least(begin + kGemmUnit, block.term_end);
    UnitOfA a = {};
    a.packed = work.packed_a;
    a.tile_floats = (end - begin + kGemmChunk - 1) / kGemmChunk * kChunkFloats<Left>;
    Left::Pack(work, begin, end, &a);
    GemmPacked packed_b = work.packed_b;
    if (work.gemm->packing == GemmPacking::kUnit) {
      packed_b.panel = work.panel_begin;
      packed_b.term = begin;
      packed_b.terms = end - begin;
      PackB(*work.gemm, work.b, {begin, end, work.panel_begin, work.panel_end}, packed_b);
    }
    for (int64_t panel = work.panel_begin; panel < work.panel_end; ++panel) {
      bool exact = false;
      if constexpr (Left::kPairs) exact = Left::DotsAreExact(a, packed_b, panel, begin, end);
      MultiplyPanel<Left>(work, a, packed_b, unit, panel, exact);
    }
  }
}

void StoreZeros(const GemmWork& work) {
  for (int64_t panel = work.panel_begin; panel < work.panel_end; ++panel) {
    for (int64_t row = work.block.row_begin; row < work.block.row_end; row += kTileRows) {
      Tile<kTileRows, kTileVectors> tile;
      tile.Clear();
      Store(work, tile, row, panel);
    }
  }
}

void MultiplyWork(const GemmWork& work) {
  const Gemm& gemm = *work.gemm;
  if (work.block.term_begin >= work.block.term_end) {
    if (work.unit_begin == 0) StoreZeros(work);
    return;
  }
#if defined(OPENACLNN_PAIRS)
  if (gemm.operands == GemmOperands::kTiles) {
    TakeTileRegisters();
    gemm.a.transposed ? MultiplyBlock<TilesOfColumnsOfA>(work)
                      : MultiplyBlock<TilesOfRowsOfA>(work);
    return ReleaseTileRegisters();
  }
  if (gemm.operands == GemmOperands::kPairs) {
    return gemm.a.transposed ? MultiplyBlock<PairsOfColumnsOfA>(work)
                             : MultiplyBlock<PairsOfRowsOfA>(work);
  }
#endif
  if (gemm.chains) {
    return gemm.a.transposed ? MultiplyBlock<ChainsOfColumnsOfA>(work)
                             : MultiplyBlock<ChainsOfRowsOfA>(work);
  }
  if (gemm.plain_step != 0) {
    return gemm.a.transposed ? MultiplyBlock<PlainColumnsOfA>(work)
                             : MultiplyBlock<PlainRowsOfA>(work);
  }
  gemm.a.transposed ? MultiplyBlock<ColumnsOfA>(work) : MultiplyBlock<RowsOfA>(work);
}

}  // namespace

extern const GemmKernels kGemmKernels = {kTileRows, kTileColumns, kPairs,
                                         PackB,     WidenRow,     MultiplyWork};

}  // namespace openaclnn::OPENACLNN_TARGET
