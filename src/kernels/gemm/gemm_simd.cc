// SPDX-License-Identifier: Apache-2.0
// Matrix products: the loops over tiles, and what becomes of their sums, for one instruction set.
#include <algorithm>

#include "kernels/gemm/gemm_windows-inl.h"
#if defined(OPENACLNN_PAIRS)
#include "kernels/gemm/gemm_pairs-inl.h"
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

/// alpha * sums + beta * what is added.
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

/// Whether the columns of a panel lie in one run of C; then at which element it begins.
inline bool InOneRun(const Gemm& gemm, int64_t column, int64_t columns, int64_t* at) {
  const int64_t run = column / gemm.c_run, first = column - run * gemm.c_run;
  *at = gemm.c_runs(run) + first * gemm.c.step;
  return columns <= gemm.c_run - first;
}

/// Rounds and stores the rows and columns that C has.
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

/// Whether the sums of a tile are rows of floats that C has, as they are.
template <class Tile>
bool IsPlain(const GemmWork& work, int64_t row, int64_t panel) {
  const Gemm& gemm = *work.gemm;
  int64_t at = 0;
  return InOneRun(gemm, panel * kTileColumns, Tile::kVectorCount * kLanes, &at) &&
         gemm.c_dtype == ACL_FLOAT && gemm.c.step == 1 && gemm.c.rows.step() != 0 &&
         gemm.alpha == 1 && work.added == nullptr && row + Tile::kRowCount <= work.block.row_end &&
         panel * kTileColumns + Tile::kVectorCount * kLanes <= gemm.columns;
}

/// Stores them without a copy of the tile.
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
constexpr int64_t kChunkFloats = UnitOfA::kChunkFloats / (Left::kPairs ? 2 : 1);

/// One unit of terms of one tile; the last unit's tile is stored.
template <class Left, int kRows, int kVectors, bool kDots>
void MultiplyTile(const GemmWork& work, const UnitOfA& a, const GemmPacked& packed_b, int64_t unit,
                  int64_t row, int64_t panel) {
  const GemmBlock& block = work.block;
  const int64_t begin = block.term_begin + unit * kGemmUnit;
  const int64_t terms = Least(kGemmUnit, block.term_end - begin);
  const int64_t chunks = (terms + kGemmChunk - 1) / kGemmChunk, first = row - block.row_begin;
  constexpr bool kPlain = Left::kPlain;
  const int64_t plain_step = work.gemm->plain_step;
  const float* rows_of_a =
      kPlain ? a.plain + first * (Left::kRowStep != 0 ? Left::kRowStep : plain_step)
             : a.packed + (first / kTileRows - a.first_tile) * a.tile_floats;
  const Panel place(*work.gemm, packed_b, panel);
  alignas(64) float chunk_sums[4 * kRows * kTileColumns];
  const Waiting chunk_waiting = {chunk_sums, kRows * kTileColumns, kTileColumns};
  Tile<kRows, kVectors> tile;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t offset = kPlain ? a.offsets[chunk] : chunk * kChunkFloats<Left>;
    const float* const b = place.Term(begin + chunk * kGemmChunk);
    const int64_t count = Least(kGemmChunk, terms - chunk * kGemmChunk);
    if constexpr (Left::kPairs) {
      tile.template MultiplyPairs<Left::kRowStep, Left::kTermStep, kDots>(
          reinterpret_cast<const uint32_t*>(rows_of_a + offset),
          reinterpret_cast<const uint32_t*>(b), place.step, (count + 1) / 2);
    } else {
      tile.template Multiply<Left::kRowStep, Left::kTermStep>(rows_of_a + offset, plain_step, b,
                                                              place.step, count);
    }
    tile.Join(chunk_waiting, chunk);
    if (chunk + 1 < chunks) tile.Wait(chunk_waiting, chunk);
  }
  tile.JoinRest(chunk_waiting, chunks - 1);
  const int64_t group_columns = (work.panel_end - work.panel_begin) * kTileColumns;
  const Waiting unit_waiting = {
      work.partials + first * group_columns + (panel - work.panel_begin) * kTileColumns,
      work.gemm->block_rows * group_columns, group_columns};
  tile.Join(unit_waiting, unit);
  if (begin + terms < block.term_end) return tile.Wait(unit_waiting, unit);
  tile.JoinRest(unit_waiting, unit);
  if (IsPlain<decltype(tile)>(work, row, panel)) return StorePlain(work, tile, row, panel);
  Tile<kRows, kVectors> done = tile;  // the other one can stay in registers
  Store(work, done, row, panel);
}

void PackB(const Gemm& gemm, const void* b, const GemmPart& part, const GemmPacked& packed) {
#if defined(OPENACLNN_PAIRS)
  if (gemm.pairs) return PackPairsOfB(gemm, b, part, packed);
#endif
  gemm.through_windows ? PackWindows(gemm, b, part, packed) : PackFloatsOfB(gemm, b, part, packed);
}

template <class Left, int kVectors, bool kDots>
void MultiplyRows(const GemmWork& work, const UnitOfA& a, const GemmPacked& packed_b, int64_t unit,
                  int64_t panel) {
  using Rest = typename Left::Rest;
  const GemmBlock& block = work.block;
  for (int64_t row = block.row_begin; row < block.row_end; row += kTileRows) {
    const int64_t left = block.row_end - row;
    const auto multiply = left >= kTileRows  ? MultiplyTile<Left, kTileRows, kVectors, kDots>
                          : left <= kFewRows ? MultiplyTile<Rest, kFewRows, kVectors, kDots>
                                             : MultiplyTile<Rest, kTileRows, kVectors, kDots>;
    multiply(work, a, packed_b, unit, row, panel);
  }
}

/// A panel of few columns by tiles of half the width.
template <class Left, bool kDots>
void MultiplyPanel(const GemmWork& work, const UnitOfA& a, const GemmPacked& packed_b, int64_t unit,
                   int64_t panel) {
  const bool narrow = work.gemm->columns - panel * kTileColumns <= kLanes;
  (narrow ? MultiplyRows<Left, 1, kDots>
          : MultiplyRows<Left, kTileVectors, kDots>)(work, a, packed_b, unit, panel);
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
      if constexpr (Left::kPairs) {
        if (Left::DotsAreExact(a, packed_b, panel, begin, end)) {
          MultiplyPanel<Left, true>(work, a, packed_b, unit, panel);
          continue;
        }
      }
      MultiplyPanel<Left, false>(work, a, packed_b, unit, panel);
    }
  }
}

void StoreZeros(const GemmWork& work) {
  for (int64_t panel = work.panel_begin; panel < work.panel_end; ++panel) {
    for (int64_t row = work.block.row_begin; row < work.block.row_end; row += kTileRows) {
      Tile<kTileRows, kTileVectors> tile;
      tile.ForEach([](F32x16& s, int, int) { s = F32x16::Broadcast(0.0f); });
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
  if (gemm.pairs) {
    return gemm.a.transposed ? MultiplyBlock<PairsOfColumnsOfA>(work)
                             : MultiplyBlock<PairsOfRowsOfA>(work);
  }
#endif
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
