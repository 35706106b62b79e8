// SPDX-License-Identifier: Apache-2.0
// Packs BFLOAT16 operands as pairs: two terms take the place of a float, the first one the lower
// half. Packing also records the least magnitudes.
//
// VDPBF16PS and TDPBF16PS compute FMAs, but take subnormal operands and results as zeros. Products
// of operands of at least 2^a and 2^b are multiples of 2^(a - 7) 2^(b - 7). Their sums, rounded or
// not, are multiples of it too. If it is at least 2^-126, nothing is subnormal, and the
// instructions give the bits of FMAs.
#pragma once

#include "kernels/gemm/gemm_windows-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

/// The least magnitude of some elements, minus one. The subtraction makes zeros the largest, so
/// they do not count.
struct LeastMagnitude {
  __m512i lanes = _mm512_set1_epi16(-1);

  void See(__m512i elements) {
    const __m512i magnitude = _mm512_and_si512(elements, _mm512_set1_epi16(0x7FFF));
    lanes = _mm512_min_epu16(lanes, _mm512_sub_epi16(magnitude, _mm512_set1_epi16(1)));
  }

  uint16_t Value() const {
    uint16_t each[32], least = 0xFFFF;
    _mm512_storeu_si512(each, lanes);
    for (const uint16_t one : each) least = one < least ? one : least;
    return least;
  }
};

/// Copies n elements that lie `step` apart; n is at most kGemmChunk.
inline void CopyBits(const std::byte* from, int64_t step, int64_t n, uint16_t* to,
                     LeastMagnitude* least) {
  uint16_t dense[kGemmChunk];
  const void* elements = from;
  if (step != 1) {
    CopyStrided(from, step, dense, 1, n, sizeof(uint16_t));
    elements = dense;
  }
  for (int64_t j = 0; j < n; j += 32) {
    const __mmask32 mask = n - j >= 32 ? ~__mmask32{0} : (__mmask32{1} << (n - j)) - 1;
    const __m512i bits = _mm512_maskz_loadu_epi16(mask, static_cast<const uint16_t*>(elements) + j);
    least->See(bits);
    _mm512_mask_storeu_epi16(to + j, mask, bits);
  }
}

/// Makes n pairs from the elements of two rows.
inline void Pair(const uint16_t* first, const uint16_t* second, int64_t n, uint32_t* to) {
  for (int64_t j = 0; j < n; j += kLanes) {
    const auto mask =
        static_cast<__mmask16>(n - j >= kLanes ? 0xFFFF : (uint32_t{1} << (n - j)) - 1);
    const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, first + j));
    const __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, second + j));
    _mm512_mask_storeu_epi32(to + j, mask, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

/// Fillers for the terms that a block lacks: -0 in A, 0 in B. Their product is -0, which does not
/// change any sum. A product of 0 would turn a sum of -0 into 0.
inline constexpr uint16_t kNoTermOfA = 0x8000, kNoTermOfB = 0;

/// Terms come in groups of `terms`. The last group is filled up with `with`.
struct Fill {
  uint16_t with;
  int64_t terms;
};

/// ReadRows for 16-bit elements, which are copied unchanged. Steps are in elements; the last terms
/// are filled.
inline void ReadBits(const TapMatrix& m, const void* data, int64_t i, int64_t rows, int64_t last,
                     int64_t j, int64_t n, const Fill& fill, uint16_t* to, int64_t row_step,
                     int64_t chunk_step, LeastMagnitude* least) {
  const int64_t next_row = m.view.rows.step() * m.view.element_bytes;
  ForPieces(m, data, i, rows, last, j, n,
            [&](const std::byte* from, int64_t r, int64_t at, int64_t count) {
              uint16_t* const piece =
                  to + r * row_step + at / kGemmChunk * chunk_step + at % kGemmChunk;
              __builtin_prefetch(from + 2 * next_row);
              __builtin_prefetch(from + 2 * next_row + 64);
              if (count == kGemmChunk && m.view.step == 1) {
                CopyBits(from, 1, kGemmChunk, piece, least);
              } else {
                CopyBits(from, m.view.step, count, piece, least);
              }
            });
  for (int64_t at = n; at % fill.terms != 0; ++at) {
    for (int64_t r = 0; r < rows; ++r) {
      to[r * row_step + at / kGemmChunk * chunk_step + at % kGemmChunk] = fill.with;
    }
  }
}

/// Makes the pairs of two whole rows of a panel whose elements lie together. 1.05 times as fast as
/// Pair if B is packed for few rows.
inline void PairWhole(const void* first, const void* second, uint32_t* to, LeastMagnitude* least) {
  static_assert(kTileColumns == 32);
  const __m512i low = _mm512_loadu_si512(first), high = _mm512_loadu_si512(second);
  least->See(low);
  least->See(high);
  const auto store = [&](__m256i lower, __m256i upper, uint32_t* place) {
    const __m512i shifted = _mm512_slli_epi32(_mm512_cvtepu16_epi32(upper), 16);
    _mm512_storeu_si512(place, _mm512_or_si512(_mm512_cvtepu16_epi32(lower), shifted));
  };
  store(_mm512_castsi512_si256(low), _mm512_castsi512_si256(high), to);
  store(_mm512_extracti64x4_epi64(low, 1), _mm512_extracti64x4_epi64(high, 1), to + kLanes);
}

inline uint32_t* AsPairs(float* floats) { return reinterpret_cast<uint32_t*>(floats); }

/// PackRowsOfB in pairs.
inline void PackPairsOfRows(const Gemm& gemm, const void* b, const GemmPart& part,
                            const GemmPacked& packed) {
  const RowView& view = gemm.b.view;
  const int64_t chunks = (packed.terms + kGemmChunk - 1) / kGemmChunk;
  const int64_t panel_bytes = kTileColumns * view.step * static_cast<int64_t>(sizeof(uint16_t));
  for (int64_t begin = part.term_begin; begin < part.term_end; begin += kGemmChunk) {
    const int64_t end = Least(begin + kGemmChunk, part.term_end);
    for (int64_t p = part.panel_begin; p < part.panel_end; ++p) {
      const Panel panel(gemm, packed, p);
      LeastMagnitude least;
      float* to = panel.Term(begin);
      for (int64_t q = begin; q < end; q += 2, to += panel.step) {
        const auto row = [&](int64_t term) {
          return view.Row(const_cast<void*>(b), term) + p * panel_bytes;
        };
        __builtin_prefetch(row(q + 16));
        __builtin_prefetch(row(q + 17));
        if (view.step == 1 && panel.columns == kTileColumns && end - q > 1) {
          PairWhole(row(q), row(q + 1), AsPairs(to), &least);
          continue;
        }
        alignas(64) uint16_t rows[2][kTileColumns] = {};
        for (int64_t r = 0; r < Least(end - q, 2); ++r) {
          CopyBits(row(q + r), view.step, panel.columns, rows[r], &least);
        }
        Pair(rows[0], rows[1], panel.columns, AsPairs(to));
      }
      packed.least[(p - packed.panel) * chunks + (begin - packed.term) / kGemmChunk] =
          least.Value();
    }
  }
}

/// PackColumnsOfB in pairs.
inline void PackPairsOfColumns(const Gemm& gemm, const void* b, const GemmPart& part,
                               const GemmPacked& packed) {
  constexpr int64_t kTurn = 4 * kGemmChunk;
  const int64_t chunks = (packed.terms + kGemmChunk - 1) / kGemmChunk;
  alignas(64) float rows[kTileColumns * kTurn / 2];
  for (int64_t p = part.panel_begin; p < part.panel_end; ++p) {
    const Panel panel(gemm, packed, p);
    for (int64_t q = part.term_begin; q < part.term_end; q += kTurn) {
      const int64_t n = Least(kTurn, part.term_end - q);
      LeastMagnitude least;
      ReadBits(gemm.b, b, p * kTileColumns, panel.columns, INT64_MAX, q, n, {kNoTermOfB, 2},
               reinterpret_cast<uint16_t*>(rows), kTurn, kGemmChunk, &least);
      Transpose(rows, kTurn / 2, panel.columns, (n + 1) / 2, panel.Term(q), panel.step);
      const uint16_t value = least.Value();
      for (int64_t at = q; at < q + n; at += kGemmChunk) {
        packed.least[(p - packed.panel) * chunks + (at - packed.term) / kGemmChunk] = value;
      }
    }
  }
}

/// Records the magnitudes of n elements.
inline void SeeAll(const uint16_t* elements, int64_t n, LeastMagnitude* least) {
  for (int64_t j = 0; j < n; j += 32) {
    const __mmask32 mask = n - j >= 32 ? ~__mmask32{0} : (__mmask32{1} << (n - j)) - 1;
    least->See(_mm512_maskz_loadu_epi16(mask, elements + j));
  }
}

/// PackPlaces in pairs, with one chunk of terms at a time.
inline void PackPairsOfPlaces(const Gemm& gemm, const void* b, const GemmPart& part,
                              const GemmPacked& packed) {
  const auto* const image = static_cast<const uint16_t*>(b);
  const int64_t chunks = (packed.terms + kGemmChunk - 1) / kGemmChunk;
  alignas(64) uint16_t rows[kGemmChunk][kTileColumns];
  WindowRun runs[kTileColumns];
  for (int64_t p = part.panel_begin; p < part.panel_end; ++p) {
    const Panel panel(gemm, packed, p);
    const int64_t count = SplitPlaces(gemm.windows, p * kTileColumns, panel.columns, runs);
    for (int64_t begin = part.term_begin; begin < part.term_end; begin += kGemmChunk) {
      const int64_t terms = Least(kGemmChunk, part.term_end - begin);
      LeastMagnitude least;
      ForTaps(gemm.windows, begin, begin + terms, runs, count,
              [&](int64_t term, int64_t channel, const WindowPiece* pieces) {
                ReadPieces(gemm.windows.axes[2], image + channel, pieces, count,
                           rows[term - begin]);
              });
      if (terms % 2 != 0) std::fill_n(rows[terms], panel.columns, kNoTermOfB);
      // Pairs are made after the whole chunk is read: a vector load right after the partial stores
      // of the same bytes would wait for them.
      float* to = panel.Term(begin);
      for (int64_t r = 0; r < terms; r += 2, to += panel.step) {
        if (panel.columns == kTileColumns) {
          PairWhole(rows[r], rows[r + 1], AsPairs(to), &least);
          continue;
        }
        SeeAll(rows[r], panel.columns, &least);
        SeeAll(rows[r + 1], panel.columns, &least);
        Pair(rows[r], rows[r + 1], panel.columns, AsPairs(to));
      }
      packed.least[(p - packed.panel) * chunks + (begin - packed.term) / kGemmChunk] =
          least.Value();
    }
  }
}

/// PackTaps in pairs.
inline void PackPairsOfTaps(const Gemm& gemm, const void* b, const GemmPart& part,
                            const GemmPacked& packed) {
  const auto* const images = static_cast<const uint16_t*>(b);
  const int64_t chunks = (packed.terms + kGemmChunk - 1) / kGemmChunk;
  alignas(64) float rows[kTileColumns * kTurnedPlaces / 2];
  WindowRun runs[kTurnedPlaces];
  for (int64_t q = part.term_begin; q < part.term_end; q += kTurnedPlaces) {
    const int64_t n = Least(kTurnedPlaces, part.term_end - q);
    const int64_t count = SplitPlaces(gemm.windows, q, n, runs);
    for (int64_t p = part.panel_begin; p < part.panel_end; ++p) {
      const Panel panel(gemm, packed, p);
      const int64_t first = p * kTileColumns;
      LeastMagnitude least;
      ForTaps(gemm.windows, first, first + panel.columns, runs, count,
              [&](int64_t column, int64_t channel, const WindowPiece* pieces) {
                uint16_t row[kTurnedPlaces + 1];
                ReadPieces(gemm.windows.axes[2], images + channel, pieces, count, row);
                SeeAll(row, n, &least);
                row[n] = kNoTermOfB;
                std::memcpy(rows + (column - first) * kTurnedPlaces / 2, row,
                            static_cast<size_t>(n + n % 2) * sizeof(uint16_t));
              });
      Transpose(rows, kTurnedPlaces / 2, panel.columns, (n + 1) / 2, panel.Term(q), panel.step);
      const uint16_t value = least.Value();
      for (int64_t at = q; at < q + n; at += kGemmChunk) {
        packed.least[(p - packed.panel) * chunks + (at - packed.term) / kGemmChunk] = value;
      }
    }
  }
}

inline void PackPairsOfB(const Gemm& gemm, const void* b, const GemmPart& part,
                         const GemmPacked& packed) {
  if (gemm.through_windows) {
    return gemm.b.transposed ? PackPairsOfTaps(gemm, b, part, packed)
                             : PackPairsOfPlaces(gemm, b, part, packed);
  }
  gemm.b.transposed ? PackPairsOfColumns(gemm, b, part, packed)
                    : PackPairsOfRows(gemm, b, part, packed);
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
