// SPDX-License-Identifier: Apache-2.0
// Matrix products: packing of the operands and the loops over tiles, for one instruction set.
#include <cstring>

#include "acl/acl_base.h"
#include "kernels/gemm_tile-inl.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// 1 sign, 8 exponent, 11 mantissa bits. A NaN stays one.
float RoundToHf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t rounded = (bits + 0x7FF + (bits >> 12 & 1)) & ~uint32_t{0xFFF};
  const uint32_t result = (bits & 0x7FFFFFFF) > 0x7F800000 ? bits | 0x400000 : rounded;
  std::memcpy(&value, &result, sizeof value);
  return value;
}

template <class T>
void Widen(const T* from, int64_t n, float* to) {
  ForLanes(n, [&](int64_t j, auto lanes) { lanes.Store(lanes.Load(from + j), to + j); });
}

/// n elements as floats, rounded; n is at most a chunk.
void Convert(const TapMatrix& m, const std::byte* from, int64_t n, float* to) {
  alignas(64) std::byte dense[kGemmChunk * sizeof(float)];
  if (m.view.step != 1) {
    CopyStrided(from, m.view.step, dense, 1, n, m.view.element_bytes);
    from = dense;
  }
  switch (m.dtype) {
    case ACL_FLOAT:
      Widen(reinterpret_cast<const float*>(from), n, to);
      break;
    case ACL_FLOAT16:
      Widen(reinterpret_cast<const Float16*>(from), n, to);
      break;
    default:
      Widen(reinterpret_cast<const BFloat16*>(from), n, to);
  }
  if (m.rounding == Rounding::kHf32) {
    for (int64_t j = 0; j < n; ++j) to[j] = RoundToHf32(to[j]);
  } else if (m.rounding == Rounding::kFloat16) {
    Float16 narrow[kGemmChunk];
    ForLanes(n, [&](int64_t j, auto lanes) { lanes.Store(lanes.Load(to + j), narrow + j); });
    Widen(narrow, n, to);
  }
}

/// Elements [j, j + count) of rows, all in one tap: where they lie in row i of the tensor.
struct Run {
  int64_t shift;  // of i; may have wrapped around, as the sum with i then does
  int64_t column_bytes;
  int64_t count;

  Run(const TapMatrix& m, int64_t j, int64_t most) {
    const int64_t tap = j / m.width, column = j - tap * m.width;
    shift = Wrap(m.shift, tap, m.step);
    column_bytes = column * m.view.step * m.view.element_bytes;
    count = Least(most, m.width - column);
  }

  const std::byte* Of(const TapMatrix& m, const void* data, int64_t i) const {
    return m.view.Row(const_cast<void*>(data), Wrap(i, 1, shift)) + column_bytes;
  }

 private:
  static int64_t Wrap(int64_t base, int64_t times, int64_t step) {
    return static_cast<int64_t>(static_cast<uint64_t>(base) +
                                static_cast<uint64_t>(times) * static_cast<uint64_t>(step));
  }
};

/// Elements [j, j + n) of rows [i, i + rows), n at most a chunk, a row each to_step floats. Rows
/// from `last` on repeat it.
void ReadRows(const TapMatrix& m, const void* data, int64_t i, int64_t rows, int64_t last,
              int64_t j, int64_t n, float* to, int64_t to_step) {
  for (int64_t done = 0; done < n;) {
    const Run run(m, j + done, n - done);
    for (int64_t r = 0; r < rows; ++r) {
      Convert(m, run.Of(m, data, Least(i + r, last)), run.count, to + r * to_step + done);
    }
    done += run.count;
  }
}

/// B whose rows are terms, without taps: a row's columns go to the panels in turn.
void PackRowsOfB(const Gemm& gemm, const void* b, int64_t begin, int64_t end, float* packed) {
  const int64_t column_bytes = gemm.b.view.step * gemm.b.view.element_bytes;
  for (int64_t q = begin; q < end; ++q) {
    const std::byte* row = gemm.b.view.Row(const_cast<void*>(b), q);
    for (int64_t p = 0; p < gemm.panels; ++p) {
      float* to = packed + (p * gemm.terms + q) * kTileColumns;
      const int64_t n = Least(kTileColumns, gemm.columns - p * kTileColumns);
      Convert(gemm.b, row + p * kTileColumns * column_bytes, n, to);
      for (int64_t j = n; j < kTileColumns; ++j) to[j] = 0;
    }
  }
}

/// B whose rows are columns of C: chunks of as many terms as a panel is wide are turned around.
void PackColumnsOfB(const Gemm& gemm, const void* b, int64_t begin, int64_t end, float* packed) {
  for (int64_t p = 0; p < gemm.panels; ++p) {
    const int64_t n = Least(kTileColumns, gemm.columns - p * kTileColumns);
    for (int64_t q = begin; q < end; q += kTileColumns) {
      const int64_t count = Least(kTileColumns, end - q);
      float square[kTileColumns][kTileColumns] = {};
      ReadRows(gemm.b, b, p * kTileColumns, n, INT64_MAX, q, count, square[0], kTileColumns);
      float* to = packed + (p * gemm.terms + q) * kTileColumns;
      for (int64_t k = 0; k < count; ++k) {
        for (int64_t i = 0; i < kTileColumns; ++i) *to++ = square[i][k];
      }
    }
  }
}

void PackB(const Gemm& gemm, const void* b, int64_t begin, int64_t end, float* packed) {
  gemm.b.transposed ? PackColumnsOfB(gemm, b, begin, end, packed)
                    : PackRowsOfB(gemm, b, begin, end, packed);
}

void WidenVector(const void* from, int64_t step, int32_t dtype, int64_t n, float* to) {
  TapMatrix vector = {};
  vector.dtype = dtype;
  vector.view.step = step;
  vector.view.element_bytes = dtype == ACL_FLOAT ? sizeof(float) : sizeof(Float16);
  const auto* bytes = static_cast<const std::byte*>(from);
  for (int64_t j = 0; j < n; j += kGemmChunk) {
    Convert(vector, bytes + j * step * vector.view.element_bytes, Least(kGemmChunk, n - j), to + j);
  }
}

/// Adds the bias, rounds and stores the rows and columns that C has.
template <class T>
void StoreTile(const GemmWork& work, Tile& tile, int64_t row, int64_t column) {
  const int64_t columns = Least(kTileColumns, work.gemm->columns - column);
  const int64_t rows = Least(kTileRows, work.block.row_end - row);
  const RowView& view = work.gemm->c;
  if (work.bias != nullptr) {
    tile.ForEach(
        [&](F32x16& s, int, int v) { s = s + F32x16::Load(work.bias + column + v * kLanes); });
  }
  for (int r = 0; r < rows; ++r) {
    T* to = reinterpret_cast<T*>(view.Row(work.c, row + r)) + column * view.step;
    T dense[kTileColumns];
    T* in = columns == kTileColumns && view.step == 1 ? to : dense;
    for (int v = 0; v < kTileVectors; ++v) tile.sum[r][v].Store(in + v * kLanes);
    if (in == dense) CopyStrided(dense, 1, to, view.step, columns, sizeof(T));
  }
}

void Store(const GemmWork& work, Tile& tile, int64_t row, int64_t column) {
  switch (work.gemm->c_dtype) {
    case ACL_FLOAT:
      return StoreTile<float>(work, tile, row, column);
    case ACL_FLOAT16:
      return StoreTile<Float16>(work, tile, row, column);
    default:
      return StoreTile<BFloat16>(work, tile, row, column);
  }
}

// The rows of C go along rows of A's source: a tile's rows are packed one by one, a chunk of each,
// so that they are copied as they lie. Rows beyond the last repeat it; nobody reads their sums.
struct RowsOfA {
  static constexpr int64_t kRowStep = kGemmChunk, kTermStep = 1;

  static void Pack(const GemmWork& work, int64_t begin, int64_t end) {
    const GemmBlock& block = work.block;
    float* to = work.packed;
    for (int64_t row = block.row_begin; row < block.row_end; row += kTileRows) {
      for (int64_t q = begin; q < end; q += kGemmChunk) {
        ReadRows(work.gemm->a, work.a, row, kTileRows, block.row_end - 1, q,
                 Least(kGemmChunk, end - q), to, kGemmChunk);
        to += kTileRows * kGemmChunk;
      }
    }
  }
};

// The rows of C go across rows of A's source, which are its terms; a block is within one tap. A
// term's elements of a tile lie together.
struct ColumnsOfA {
  static constexpr int64_t kRowStep = 1, kTermStep = kTileRows;

  static void Pack(const GemmWork& work, int64_t begin, int64_t end) {
    const GemmBlock& block = work.block;
    const int64_t rows = block.row_end - block.row_begin;
    const int64_t tile_floats =
        (end - begin + kGemmChunk - 1) / kGemmChunk * kGemmChunk * kTileRows;
    const Run run(work.gemm->a, block.row_begin, rows);
    float line[kGemmRows] = {};
    for (int64_t q = begin; q < end; ++q) {
      Convert(work.gemm->a, run.Of(work.gemm->a, work.a, q), run.count, line);
      float* to = work.packed + (q - begin) * kTileRows;
      for (int64_t row = 0; row < rows; row += kTileRows, to += tile_floats) {
        std::memcpy(to, line + row, kTileRows * sizeof(float));
      }
    }
  }
};

/// One unit of terms of one tile; the last unit's tile is stored.
template <class Packing>
void MultiplyTile(const GemmWork& work, int64_t unit, int64_t row, int64_t panel) {
  constexpr int64_t kChunkFloats = kGemmChunk * kTileRows;
  const GemmBlock& block = work.block;
  const int64_t begin = block.term_begin + unit * kGemmUnit;
  const int64_t terms = Least(kGemmUnit, block.term_end - begin);
  const int64_t chunks = (terms + kGemmChunk - 1) / kGemmChunk;
  const float* a = work.packed + (row - block.row_begin) / kTileRows * chunks * kChunkFloats;
  const float* b = work.b + (panel * work.gemm->terms + begin) * kTileColumns;
  alignas(64) float chunk_sums[4 * kTileRows * kTileColumns];
  const Waiting chunk_waiting = {chunk_sums, kTileRows * kTileColumns, kTileColumns};
  Tile tile;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    tile.Multiply<Packing::kRowStep, Packing::kTermStep>(
        a + chunk * kChunkFloats, b + chunk * kGemmChunk * kTileColumns,
        Least(kGemmChunk, terms - chunk * kGemmChunk));
    tile.Join(chunk_waiting, chunk);
    if (chunk + 1 < chunks) tile.Wait(chunk_waiting, chunk);
  }
  tile.JoinRest(chunk_waiting, chunks - 1);
  const int64_t group_columns = (work.panel_end - work.panel_begin) * kTileColumns;
  const Waiting unit_waiting = {work.partials + (row - block.row_begin) * group_columns +
                                    (panel - work.panel_begin) * kTileColumns,
                                kGemmRows * group_columns, group_columns};
  tile.Join(unit_waiting, unit);
  if (begin + terms < block.term_end) return tile.Wait(unit_waiting, unit);
  tile.JoinRest(unit_waiting, unit);
  Store(work, tile, row, panel * kTileColumns);
}

template <class Packing>
void MultiplyBlock(const GemmWork& work) {
  const GemmBlock& block = work.block;
  for (int64_t unit = 0; block.term_begin + unit * kGemmUnit < block.term_end; ++unit) {
    const int64_t begin = block.term_begin + unit * kGemmUnit;
    Packing::Pack(work, begin, Least(begin + kGemmUnit, block.term_end));
    for (int64_t panel = work.panel_begin; panel < work.panel_end; ++panel) {
      for (int64_t row = block.row_begin; row < block.row_end; row += kTileRows) {
        MultiplyTile<Packing>(work, unit, row, panel);
      }
    }
  }
}

void StoreZeros(const GemmWork& work) {
  for (int64_t panel = work.panel_begin; panel < work.panel_end; ++panel) {
    for (int64_t row = work.block.row_begin; row < work.block.row_end; row += kTileRows) {
      Tile tile;
      tile.ForEach([](F32x16& s, int, int) { s = F32x16::Broadcast(0.0f); });
      Store(work, tile, row, panel * kTileColumns);
    }
  }
}

void MultiplyWork(const GemmWork& work) {
  if (work.block.term_begin >= work.block.term_end) return StoreZeros(work);
  work.gemm->a.transposed ? MultiplyBlock<ColumnsOfA>(work) : MultiplyBlock<RowsOfA>(work);
}

}  // namespace

extern const GemmKernels kGemmKernels = {kTileColumns, PackB, WidenVector, MultiplyWork};

}  // namespace openaclnn::OPENACLNN_TARGET
