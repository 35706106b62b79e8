// SPDX-License-Identifier: Apache-2.0
// Products of pairs of BFLOAT16 by VDPBF16PS or by FMAs: how A is packed, and the chains.
//
// VDPBF16PS does two FMAs, the one of the upper halves first. Both terms of its pair must belong to
// one chain. So of four terms of A, 0 and 2 are packed as a pair, and 1 and 3; the earlier term is
// the upper half. B is packed with neighbouring terms as pairs; registers combine two of its rows.
#pragma once

#include "kernels/gemm/gemm_pairs-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

/// The base of the policies that pack A in pairs.
struct PairsOfA {
  static constexpr bool kPairs = true, kPlain = false, kChains = true;

  /// Whether no operand, product or sum of the terms [begin, end) can be subnormal.
  static bool DotsAreExact(const UnitOfA& a, const GemmPacked& b, int64_t panel, int64_t begin,
                           int64_t end) {
    const int64_t chunks = (b.terms + kGemmChunk - 1) / kGemmChunk;
    const uint16_t* const least = b.least + (panel - b.panel) * chunks;
    uint32_t least_b = 0xFFFF;
    for (int64_t c = (begin - b.term) / kGemmChunk; c <= (end - 1 - b.term) / kGemmChunk; ++c) {
      least_b = least[c] < least_b ? least[c] : least_b;
    }
    // Stored exponents are 127 more than their values.
    const uint32_t exponent_a = (a.least + 1) >> 7, exponent_b = (least_b + 1) >> 7;
    return exponent_a >= 1 && exponent_b >= 1 && exponent_a + exponent_b >= 2 * (127 + 7) - 126;
  }
};

/// Reorders every four elements of a row to 2, 0, 3, 1, which makes pairs of the two chains.
inline void PutChainsTogether(uint16_t* row, int64_t n) {
  const __m512i order = _mm512_set4_epi32(0x0B0A0F0E, 0x09080D0C, 0x03020706, 0x01000504);
  for (int64_t j = 0; j < n; j += 32) {
    const __m512i elements = _mm512_loadu_si512(row + j);
    _mm512_storeu_si512(row + j, _mm512_shuffle_epi8(elements, order));
  }
}

/// The layout of RowsOfA, in pairs.
struct PairsOfRowsOfA : PairsOfA {
  using Rest = PairsOfRowsOfA;
  static constexpr bool kTiles = false;
  static constexpr int64_t kPackedRows = kTileRows;
  static constexpr int64_t kRowStep = kGemmChunk / 2, kTermStep = 1;

  static void Pack(const GemmWork& work, int64_t begin, int64_t end, UnitOfA* unit) {
    const GemmBlock& block = work.block;
    LeastMagnitude least;
    float* to = unit->packed;
    for (int64_t row = block.row_begin; row < block.row_end; row += kTileRows) {
      const int64_t rows = RowsOfTile(block.row_end - row);
      auto* const elements = reinterpret_cast<uint16_t*>(to);
      ReadBits(work.gemm->a, work.a, row, rows, block.row_end - 1, begin, end - begin,
               {kNoTermOfA, 4}, elements, kGemmChunk, kGemmChunk * kTileRows, &least);
      for (int64_t q = begin; q < end; q += kGemmChunk) {
        for (int64_t r = 0; r < rows; ++r) {
          PutChainsTogether(elements + (q - begin) * kTileRows + r * kGemmChunk, kGemmChunk);
        }
      }
      to += unit->tile_floats;
    }
    unit->least = least.Value();
  }
};

/// How many of `rows` columns of A, from `first` on, may be read in whole vectors, tile by tile.
/// From the first column of each such tile on, A has at least kLanes columns.
inline int64_t WideRows(const TapMatrix& a, int64_t first, int64_t rows) {
  if (a.view.step != 1 || a.view.rows.step() == 0) return 0;
  const int64_t most = Run(a, first, INT64_MAX).count;
  int64_t done = 0;
  while (done < rows && done + kLanes <= most) done += kTileRows;
  return done;
}

/// The layout of ColumnsOfA, in pairs.
struct PairsOfColumnsOfA : PairsOfA {
  using Rest = PairsOfColumnsOfA;
  static constexpr bool kTiles = false;
  static constexpr int64_t kPackedRows = kTileRows;
  static constexpr int64_t kRowStep = 1, kTermStep = kTileRows;

  static void Pack(const GemmWork& work, int64_t begin, int64_t end, UnitOfA* unit) {
    const GemmBlock& block = work.block;
    const int64_t rows = block.row_end - block.row_begin;
    // Stores of PackWide reach over kLast following terms, which PackLines then writes.
    constexpr int64_t kLast = (2 * kOver + 3) / 4 * 4;
    const int64_t fours = (end - begin) / 4 * 4 - kLast;
    LeastMagnitude least;
    int64_t done = 0;
    if (fours > 0) done = WideRows(work.gemm->a, block.row_begin, rows);
    if (done > 0) {
      PackWide(work, Least(done, rows), begin, fours, unit, &least);
      PackLines(work, 0, begin + fours, end, begin, unit, &least);
    }
    if (done < rows) PackLines(work, done, begin, end, begin, unit, &least);
    unit->least = least.Value();
  }

 private:
  static void PackWide(const GemmWork& work, int64_t rows, int64_t begin, int64_t terms,
                       UnitOfA* unit, LeastMagnitude* least) {
    const TapMatrix& a = work.gemm->a;
    const Run run(a, work.block.row_begin, rows);
    const int64_t step = a.view.rows.step();
    for (int64_t q = 0; q < terms; q += kGemmChunk) {
      const int64_t n = Least(kGemmChunk, terms - q);
      const auto* line = reinterpret_cast<const uint16_t*>(run.Of(a, work.a, begin + q));
      float* tile = unit->packed + q / 2 * kTileRows;
      for (int64_t row = 0; row < rows; row += kTileRows, tile += unit->tile_floats) {
        const uint16_t* from = line + row;
        float* to = tile;
        for (int64_t t = 0; t < n; t += 4, from += 4 * step, to += 2 * kTileRows) {
          for (int64_t later = 16; later < 20; ++later) __builtin_prefetch(from + later * step);
          const auto load = [](const uint16_t* at) {
            return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
          };
          for (int chain = 0; chain < 2; ++chain) {
            const uint16_t* const first = from + chain * step;
            const __m512i both =
                _mm512_or_si512(load(first + 2 * step), _mm512_slli_epi32(load(first), 16));
            least->See(both);
            _mm512_storeu_si512(to + chain * kTileRows, both);
          }
        }
      }
    }
  }

  /// Packs terms [from, end) of the rows from `done` on. The unit's terms start at `begin`.
  static void PackLines(const GemmWork& work, int64_t done, int64_t from, int64_t end,
                        int64_t begin, UnitOfA* unit, LeastMagnitude* least) {
    const TapMatrix& a = work.gemm->a;
    const int64_t first = work.block.row_begin + done, rows = work.block.row_end - first;
    const Run run(a, first, rows);
    uint16_t lines[4][kGemmRows] = {};
    uint32_t pairs[kGemmRows];
    float* const packed = unit->packed + done / kTileRows * unit->tile_floats;
    for (int64_t q = from; q < end; q += 4) {
      for (int64_t r = 0; r < 4; ++r) {
        if (q + r >= end) {
          for (uint16_t& each : lines[r]) each = kNoTermOfA;
          continue;
        }
        const std::byte* later = run.Of(a, work.a, q + r + 16);
        for (int64_t j = 0; j < run.count * a.view.element_bytes; j += 64) {
          __builtin_prefetch(later + j);
        }
        CopyBits(run.Of(a, work.a, q + r), a.view.step, run.count, lines[r], least);
      }
      for (int chain = 0; chain < 2; ++chain) {
        Pair(lines[chain + 2], lines[chain], kGemmRows, pairs);
        float* to = packed + ((q - begin) / 2 + chain) * kTileRows;
        for (int64_t row = 0; row < rows; row += kTileRows, to += unit->tile_floats) {
          std::memcpy(to, pairs + row, kTileRows * sizeof(uint32_t));
        }
      }
    }
  }
};

/// One row of packed B as floats: the terms at even places (parity 0) or at odd places (1).
inline F32x16 OfChain(__m512i pairs, int parity) {
  const __m512i bits = parity == 0 ? _mm512_slli_epi32(pairs, 16)
                                   : _mm512_and_si512(pairs, _mm512_set1_epi32(-65536));
  return F32x16{{_mm512_castsi512_ps(bits)}};
}

/// Computes one chain of a block of `terms` terms by FMAs.
template <class Left, class Tile>
inline __attribute__((always_inline)) void MultiplyByFmas(Tile& tile, const uint32_t* a,
                                                          const uint32_t* b, int64_t b_step,
                                                          int64_t terms, int parity) {
  tile.Clear();
  for (int64_t q = 0; 2 * q + parity < terms; ++q, b += b_step) {
    F32x16 right[Tile::kVectorCount];
#pragma GCC unroll 2
    for (int v = 0; v < Tile::kVectorCount; ++v) {
      right[v] = OfChain(_mm512_loadu_si512(b + v * kLanes), parity);
    }
    // For tile registers neighbouring terms are a pair, for dot products the terms of one chain.
    const int64_t pair = Left::kTiles ? q : q / 2 * 2 + parity;
    const bool upper = Left::kTiles ? parity == 1 : q % 2 == 0;
    const uint32_t* const at = a + pair * Left::kTermStep;
    tile.ForEach([&](F32x16& s, int r, int v) {
      const uint32_t both = at[r * Left::kRowStep];
      const auto bits = static_cast<int32_t>(upper ? both & 0xFFFF0000 : both << 16);
      s = F32x16::MulAdd(F32x16{{_mm512_castsi512_ps(_mm512_set1_epi32(bits))}}, right[v], s);
    });
  }
}

/// Computes one chain of a block of `terms` terms by VDPBF16PS.
template <class Left, class Tile>
inline __attribute__((always_inline)) void MultiplyByDots(Tile& tile, const uint32_t* a,
                                                          const uint32_t* b, int64_t b_step,
                                                          int64_t terms, int parity) {
  constexpr __mmask32 kUpper = 0xAAAAAAAA;
  tile.Clear();
  a += parity * Left::kTermStep;
  for (int64_t q = 0; q < terms; q += 4, a += 2 * Left::kTermStep, b += 2 * b_step) {
    for (int v = 0; v < Tile::kVectorCount; ++v) {
      __builtin_prefetch(b + 16 * b_step + v * kLanes);
      __builtin_prefetch(b + 17 * b_step + v * kLanes);
    }
    __m512i right[Tile::kVectorCount];
#pragma GCC unroll 2
    for (int v = 0; v < Tile::kVectorCount; ++v) {
      const uint32_t* const from = b + v * kLanes;
      const __m512i first = _mm512_loadu_si512(from);
      const __m512i second = q + 2 < terms ? _mm512_loadu_si512(from + b_step) : __m512i{};
      right[v] = parity == 0
                     ? _mm512_mask_blend_epi16(kUpper, second, _mm512_slli_epi32(first, 16))
                     : _mm512_mask_blend_epi16(kUpper, _mm512_srli_epi32(second, 16), first);
    }
    tile.ForEach([&](auto& s, int r, int v) {
      const __m512i left = _mm512_set1_epi32(static_cast<int32_t>(a[r * Left::kRowStep]));
      // The intrinsic would need a compile of the whole file for processors that have VDPBF16PS.
      asm("vdpbf16ps %2, %1, %0" : "+v"(s.part[0]) : "v"(left), "v"(right[v]));
    });
  }
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
