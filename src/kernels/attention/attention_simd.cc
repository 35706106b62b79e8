// SPDX-License-Identifier: Apache-2.0
// Tiles of attention: products, rows of scores and packing, for one instruction set.
#include "kernels/attention/attention.h"
#include "kernels/gemm/gemm_pack-inl.h"
#include "kernels/rows/sum-inl.h"
#include "kernels/simd/exp-inl.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

static_assert(kAttentionChunk == kGemmChunk && kAttentionChunk % kTileColumns == 0);

constexpr float kInfinity = __builtin_inff();
// The most waiting partials of a product's chunks, for kAttentionWidth terms.
constexpr int64_t kLevels = 6;
static_assert(kAttentionWidth == kGemmChunk << kLevels);

constexpr int64_t Chunks(int64_t n) { return (n + kGemmChunk - 1) / kGemmChunk; }

/// The address of a column of a matrix.
template <class T>
T* Column(T* matrix, int64_t chunk, int64_t column) {
  return matrix + column / kAttentionChunk * chunk + column % kAttentionChunk;
}

template <bool kTurned, int kRows, int kVectors>
void MultiplyTile(const AttentionProduct& p, int64_t row, int64_t column) {
  const float* b = p.b + column / kTileColumns * p.b_panel;
  alignas(64) float sums[kLevels * kRows * kTileColumns];
  const Waiting waiting = {sums, kRows * kTileColumns, kTileColumns};
  Tile<kRows, kVectors> tile;
  const int64_t chunks = Chunks(p.terms);
  for (int64_t chunk = 0; chunk < chunks; ++chunk, b += kGemmChunk * p.b_step) {
    const int64_t terms = Least(kGemmChunk, p.terms - chunk * kGemmChunk);
    if constexpr (kTurned) {
      const float* const a = Column(p.a, p.a_chunk, row);
      tile.template Multiply<1, kAttentionChunk>(a, 0, b, p.b_step, terms);
    } else {
      const float* const a = p.a + chunk * p.a_chunk + row * kAttentionChunk;
      tile.template Multiply<kAttentionChunk, 1>(a, 0, b, p.b_step, terms);
    }
    tile.Join(waiting, chunk);
    if (chunk + 1 < chunks) tile.Wait(waiting, chunk);
  }
  if (chunks == 0) {
    tile.Clear();
  } else {
    tile.JoinRest(waiting, chunks - 1);
  }
  const int64_t place =
      column / kAttentionChunk * p.c_chunk + row * kAttentionChunk + column % kAttentionChunk;
  for (int64_t j = 0; j < p.join_count; ++j) {
    const AttentionJoin& join = p.joins[j];
    const float* const from = join.sums + place;
    tile.ForEach([&](F32x16& s, int r, int v) {
      const F32x16 other = F32x16::Load(from + r * kAttentionChunk + v * kLanes);
      if (join.left == nullptr) {
        s = other + s;
      } else {
        s = other * F32x16::Broadcast(join.left[row + r]) +
            s * F32x16::Broadcast(join.right[row + r]);
      }
    });
  }
  float* const to = p.c + place;
  tile.ForEach([&](F32x16& s, int r, int v) { s.Store(to + r * kAttentionChunk + v * kLanes); });
}

/// Multiplies rows [row, end) in tiles of the largest size, then in smaller ones for the rest.
template <bool kTurned, int kVectors>
void MultiplyRows(const AttentionProduct& p, int64_t row, int64_t end, int64_t column) {
  for (; end - row >= kTileRows; row += kTileRows) {
    MultiplyTile<kTurned, kTileRows, kVectors>(p, row, column);
  }
  if constexpr (kTileRows > 8) {
    for (; end - row >= 8; row += 8) MultiplyTile<kTurned, 8, kVectors>(p, row, column);
  }
  if constexpr (kTileRows > 4) {
    for (; end - row >= 4; row += 4) MultiplyTile<kTurned, 4, kVectors>(p, row, column);
  }
  for (; end - row >= 2; row += 2) MultiplyTile<kTurned, 2, kVectors>(p, row, column);
  if (row < end) MultiplyTile<kTurned, 1, kVectors>(p, row, column);
}

/// Multiplies with a transposed A. A tile's rows stay within one chunk of A.
template <bool kTurned, int kVectors>
void MultiplyPanel(const AttentionProduct& p, int64_t column) {
  const int64_t step = kTurned ? kAttentionChunk : p.rows;
  for (int64_t row = 0; row < p.rows; row += step) {
    MultiplyRows<kTurned, kVectors>(p, row, Least(row + step, p.rows), column);
  }
}

template <bool kTurned>
void Multiply(const AttentionProduct& p) {
  for (int64_t column = 0; column < p.columns; column += kTileColumns) {
    const bool narrow = p.columns - column <= kLanes;
    (narrow ? MultiplyPanel<kTurned, 1> : MultiplyPanel<kTurned, kTileVectors>)(p, column);
  }
}

// The elements of a row that are loaded at a time if they cannot be read in place.
constexpr int64_t kPiece = 4 * kGemmChunk;

/// Loads elements [j, j + n) of a row that lies in groups.
inline void LoadGroups(const AttentionRows& rows, int64_t row, int64_t j, int64_t n, float* room) {
  const std::byte* const from = rows.Row(row);
  for (int64_t i = 0; i < n;) {
    const int64_t at = (j + i) % rows.group, count = Least(rows.group - at, n - i);
    rows.load(from + (j + i) / rows.group * rows.group_bytes + at * rows.element_bytes,
              rows.element_bytes, count, room + i);
    i += count;
  }
}

/// Makes numbers of elements [j, j + n) of a quantised row.
inline void Dequantise(const AttentionScales& scales, int64_t row, int64_t j, int64_t n,
                       float* room) {
  const float* const factors = scales.factors + (scales.of_rows ? row : j);
  const float* const offsets =
      scales.offsets == nullptr ? nullptr : scales.offsets + (scales.of_rows ? row : j);
  ForLanes(n, [&](int64_t i, auto lanes) {
    const auto number = [&](const float* from) __attribute__((always_inline)) {
      return scales.of_rows ? F32x16::Broadcast(*from) : lanes.Load(from + i);
    };
    F32x16 x = lanes.Load(room + i);
    if (offsets != nullptr) x = x + number(offsets);
    lanes.Store(x * number(factors), room + i);
  });
}

/// Elements [j, j + n) of a row as floats, in place or copied to `room`; n is at most kPiece.
inline const float* Piece(const AttentionRows& rows, int64_t row, int64_t j, int64_t n,
                          float* room) {
  if (rows.plain) return rows.Floats(row) + j;
  if (rows.group != 0) {
    LoadGroups(rows, row, j, n, room);
  } else {
    const int64_t step = rows.ElementBytes(row);
    rows.load(rows.Row(row) + j * step, step, n, room);
  }
  if (rows.scales != nullptr) Dequantise(*rows.scales, row, j, n, room);
  return room;
}

/// Stores n floats as vectors that lie `step` floats apart. The last vector is filled with 0.
inline void CopyGroups(const float* from, int64_t n, float* to, int64_t step) {
  ForLanes(n, [&](int64_t j, auto lanes) { lanes.Load(from + j).Store(to + j / kLanes * step); });
}

void PackRows(const AttentionRows& rows, int64_t count, int64_t width, float* to) {
  alignas(64) float room[kPiece];
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t j = 0; j < width; j += kPiece) {
      const int64_t n = Least(kPiece, width - j);
      const float* const piece = Piece(rows, row, j, n, room);
      for (int64_t i = 0; i < n; i += kAttentionChunk) {
        CopyGroups(piece + i, Least(kAttentionChunk, n - i),
                   to + ((j + i) * kAttentionRows + row * kAttentionChunk), kLanes);
      }
    }
  }
}

void PackTerms(const AttentionRows& rows, int64_t count, int64_t width, float* to,
               int64_t panel_floats) {
  alignas(64) float room[kPiece];
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t j = 0; j < width; j += kPiece) {
      const int64_t n = Least(kPiece, width - j);
      const float* const piece = Piece(rows, row, j, n, room);
      for (int64_t i = 0; i < n; i += kTileColumns) {
        float* const term = to + (j + i) / kTileColumns * panel_floats + row * kTileColumns;
        for (int v = 1; v < kTileVectors; ++v) F32x16::Broadcast(0).Store(term + v * kLanes);
        CopyGroups(piece + i, Least(kTileColumns, n - i), term, kLanes);
      }
    }
  }
}

void PackTurned(const AttentionRows& rows, int64_t count, int64_t width, float* to,
                int64_t panel_floats) {
  alignas(64) float room[kTileColumns * kPiece];
  for (int64_t row = 0; row < count; row += kTileColumns, to += panel_floats) {
    const int64_t n = Least(kTileColumns, count - row);
    if (rows.plain && rows.places == nullptr && n == kTileColumns) {
      const int64_t step = rows.row_bytes / static_cast<int64_t>(sizeof(float));
      Transpose(rows.Floats(row), step, kTileColumns, width, to, kTileColumns);
      continue;
    }
    for (int64_t j = 0; j < width; j += kPiece) {
      const int64_t terms = Least(kPiece, width - j);
      for (int64_t i = 0; i < kTileColumns; ++i) {
        float* const line = room + i * kPiece;
        if (i < n) {
          CopyGroups(Piece(rows, row + i, j, terms, line), terms, line, kLanes);
        } else {
          for (int64_t t = 0; t < terms; ++t) line[t] = 0;
        }
      }
      Transpose(room, kPiece, kTileColumns, terms, to + j * kTileColumns, kTileColumns);
    }
  }
}

/// Replaces hidden lanes by a number. Without a mask, replaces none.
struct NoMask {
  static constexpr bool kHides = false;
  F32x16 operator()(F32x16 x, float) const { return x; }
};
struct LaneMask {
  static constexpr bool kHides = true;
  const uint8_t* bytes;
  F32x16 operator()(F32x16 x, float hidden) const {
    return F32x16::Select(bytes, x, F32x16::Broadcast(hidden));
  }
};

/// Calls body(key, mask) for each vector with keys that the row sees, and none(key) for the others.
template <class Body, class None>
inline __attribute__((always_inline)) void ForGroups(const AttentionRow& row, Body&& body,
                                                     None&& none) {
  for (int64_t j = 0; j < kAttentionKeys; j += kLanes) {
    if (j >= row.end || j + kLanes <= row.begin) {
      none(j);
    } else if (j < row.begin || j + kLanes > row.end) {
      uint8_t bytes[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) {
        const bool outside = j + i < row.begin || j + i >= row.end;
        bytes[i] = outside || (row.hides != nullptr && row.hides[j + i] != 0) ? 1 : 0;
      }
      body(j, LaneMask{bytes});
    } else if (row.hides != nullptr) {
      body(j, LaneMask{row.hides + j});
    } else {
      body(j, NoMask());
    }
  }
}

/// e^x for x up to 80, within 1 unit in the last place; 0 below -87.7, NaN for NaN. Unlike
/// ExpOfNonPositive, which has the same bits without FMA, it fuses products: half the instructions.
inline __attribute__((always_inline)) F32x16 Exp(F32x16 x) {
  constexpr float kRoundToWhole = 12582912.0f;  // 1.5 * 2^23
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  // (e^r - 1 - r) / r^2 on [-ln 2 / 2, ln 2 / 2], within 2^-23 of e^r - 1.
  constexpr float kSeries[] = {1.392619106e-3f, 8.363185032e-3f, 0.04166655457f, 0.1666657695f,
                               0.5f};
  constexpr float kLeast = -88.02f;  // its power of two is 0
  const auto all = [](float value) { return F32x16::Broadcast(value); };
  x = F32x16::Max(all(kLeast), x);
  const F32x16 n = F32x16::MulAdd(x, all(kLog2E), all(kRoundToWhole)) - all(kRoundToWhole);
  const F32x16 r = F32x16::MulAdd(n, all(-kLn2Low), F32x16::MulAdd(n, all(-kLn2High), x));
  F32x16 series = all(kSeries[0]);
  for (int i = 1; i < 5; ++i) series = F32x16::MulAdd(series, r, all(kSeries[i]));
  return (F32x16::MulAdd(r * r, series, r) + all(1)) * F32x16::PowerOfTwo(n);
}

/// Whether scores are scaled before they are compared. They are if a shift is added, or if the
/// scale is not positive: then the largest product need not have the largest score.
inline bool ScalesFirst(const AttentionRow& row) {
  return row.shift != nullptr || !(row.scale > 0);
}

/// The numbers that are compared: scores if scaled first, else products.
template <bool kScalesFirst>
inline __attribute__((always_inline)) F32x16 At(const AttentionRow& row, int64_t j) {
  const F32x16 products = F32x16::Load(Column(row.scores, row.chunk, j));
  if constexpr (!kScalesFirst) return products;
  const F32x16 scores = products * F32x16::Broadcast(row.scale);
  return row.shift == nullptr ? scores : scores + F32x16::Load(row.shift + j);
}

/// The factor that turns a compared number into a score.
inline float FactorOf(const AttentionRow& row) { return ScalesFirst(row) ? 1 : row.scale; }

template <bool kScalesFirst>
float LargestOf(const AttentionRow& row) {
  F32x16 largest = F32x16::Broadcast(-kInfinity);
  ForGroups(
      row,
      [&](int64_t j, auto mask) __attribute__((always_inline)) {
        const F32x16 x = mask(At<kScalesFirst>(row, j), -kInfinity);
        if (kScalesFirst || mask.kHides) x.Store(Column(row.scores, row.chunk, j));
        largest = F32x16::Max(x, largest);
      },
      [](int64_t) {});
  return largest.Largest() * FactorOf(row);
}

float Largest(const AttentionRow& row) {
  return ScalesFirst(row) ? LargestOf<true>(row) : LargestOf<false>(row);
}

float Exponentials(const AttentionRow& row, float max) {
  // If all keys of the row are hidden, max is -infinity, and nothing is subtracted.
  const F32x16 below = F32x16::Broadcast(max == -kInfinity ? 0 : -max);
  const F32x16 factor = F32x16::Broadcast(FactorOf(row)), zero = F32x16::Broadcast(0);
  return Sum(
      kAttentionKeys, [&](int64_t j, auto) __attribute__((always_inline)) {
        float* const at = Column(row.scores, row.chunk, j);
        if (j >= row.end || j + kLanes <= row.begin) {
          zero.Store(at);
          return zero;
        }
        const F32x16 e = Exp(F32x16::MulAdd(F32x16::Load(at), factor, below));
        (row.kept == nullptr ? e : e * F32x16::Load(row.kept + j)).Store(at);
        return e;
      });
}

void Join(const float* max, const float* sum, float* both_max, float* both_sum, float* left,
          float* right) {
  constexpr float kLowest = -3.40282347e+38f;  // -infinity minus it is -infinity, not NaN
  for (int64_t r = 0; r < kAttentionRows; r += kLanes) {
    const F32x16 a = F32x16::Load(max + r), b = F32x16::Load(both_max + r);
    const F32x16 most = F32x16::Max(a, b);
    const F32x16 shift = F32x16::Max(F32x16::Broadcast(kLowest), most);
    const F32x16 of_a = ExpOfNonPositive(a - shift), of_b = ExpOfNonPositive(b - shift);
    of_a.Store(left + r);
    of_b.Store(right + r);
    most.Store(both_max + r);
    (F32x16::Load(sum + r) * of_a + F32x16::Load(both_sum + r) * of_b).Store(both_sum + r);
  }
}

template <bool kScalesFirst>
void SlopeOf(const AttentionRow& row, const AttentionSlope& slope) {
  const auto all = [](float value) { return F32x16::Broadcast(value); };
  const F32x16 below = all(-slope.max), over_sum = all(slope.over_sum), mean = all(slope.mean),
               scale = all(row.scale), factor = all(FactorOf(row)), zero = all(0), least = all(-80);
  ForGroups(
      row,
      [&](int64_t j, auto mask) __attribute__((always_inline)) {
        float* const at = Column(row.scores, row.chunk, j);
        float* const to = Column(slope.slopes, row.chunk, j);
        const F32x16 x = F32x16::MulAdd(At<kScalesFirst>(row, j), factor, below);
        // The exponential is at most e^80, even if the given maximum is not the row's.
        const F32x16 power = Exp(zero - F32x16::Max(least, zero - x));
        const F32x16 weight = mask(power * over_sum, 0);
        F32x16 kept = weight, by_weight = F32x16::Load(to);
        if (row.kept != nullptr) {
          const F32x16 factors = F32x16::Load(row.kept + j);
          kept = weight * factors;
          by_weight = by_weight * factors;
        }
        kept.Store(at);
        mask(weight * (by_weight - mean) * scale, 0).Store(to);
      },
      [&](int64_t j) {
        zero.Store(Column(row.scores, row.chunk, j));
        zero.Store(Column(slope.slopes, row.chunk, j));
      });
}

void Slope(const AttentionRow& row, const AttentionSlope& slope) {
  ScalesFirst(row) ? SlopeOf<true>(row, slope) : SlopeOf<false>(row, slope);
}

void Divide(const float* row, int64_t chunk, int64_t n, float by, float* to) {
  const F32x16 all = F32x16::Broadcast(by == 0 ? 1 : by);
  ForLanes(n, [&](int64_t j, auto lanes) {
    lanes.Store(lanes.Load(Column(row, chunk, j)) / all, to + j);
  });
}

}  // namespace

extern const AttentionKernels kAttentionKernels = {
    kTileColumns, PackRows,     PackTerms, PackTurned, Multiply<false>, Multiply<true>,
    Largest,      Exponentials, Join,      Slope,      Divide,
};

}  // namespace openaclnn::OPENACLNN_TARGET
