// SPDX-License-Identifier: Apache-2.0
// Products of BFLOAT16 by tile registers: how A is packed for them, and the loop over blocks.
//
// TDPBF16PS multiplies 16 pairs of terms, a block, and adds them to 16 x 16 floats in the order of
// gemm.h: 16 FMAs of the first elements of the pairs, 16 FMAs of the second ones, the sum of both,
// added to the float. 10,240,000 results of random tiles had the bits of this order. Four registers
// hold sums, two hold rows of A, and two hold columns of B.
#pragma once

#include "common/tile_registers.h"
#include "kernels/gemm/gemm_dots-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

template <int kTile>
inline __attribute__((always_inline)) void LoadTileRegister(const void* from, int64_t step) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(step), "i"(kTile) : "memory");
}

template <int kTile>
inline __attribute__((always_inline)) void StoreTileRegister(void* to, int64_t step) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(step), "i"(kTile) : "memory");
}

template <int kTile>
inline __attribute__((always_inline)) void ClearTileRegister() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}

template <int kSum, int kA, int kB>
inline __attribute__((always_inline)) void MultiplyTileRegisters() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
}

/// The sums of kRowTiles x kColumnTiles registers.
template <int kRowTiles, int kColumnTiles>
struct RegisterSums {
  static constexpr int kFirstOfA = 4, kFirstOfB = 6;

  static inline __attribute__((always_inline)) void Clear() {
    ClearTileRegister<0>();
    if constexpr (kColumnTiles == 2) ClearTileRegister<1>();
    if constexpr (kRowTiles == 2) ClearTileRegister<2>();
    if constexpr (kRowTiles == 2 && kColumnTiles == 2) ClearTileRegister<3>();
  }

  /// Adds a block. Rows of A are 128 bytes apart, tiles of A a_tile bytes, pairs of B b_step bytes.
  static inline __attribute__((always_inline)) void Add(const std::byte* a, int64_t a_tile,
                                                        const std::byte* b, int64_t b_step) {
    constexpr int64_t kStep = kGemmChunk * sizeof(uint16_t);
    LoadTileRegister<kFirstOfA>(a, kStep);
    LoadTileRegister<kFirstOfB>(b, b_step);
    MultiplyTileRegisters<0, kFirstOfA, kFirstOfB>();
    if constexpr (kColumnTiles == 2) {
      LoadTileRegister<kFirstOfB + 1>(b + kLanes * sizeof(float), b_step);
      MultiplyTileRegisters<1, kFirstOfA, kFirstOfB + 1>();
    }
    if constexpr (kRowTiles == 2) {
      LoadTileRegister<kFirstOfA + 1>(a + a_tile, kStep);
      MultiplyTileRegisters<2, kFirstOfA + 1, kFirstOfB>();
      if constexpr (kColumnTiles == 2) {
        MultiplyTileRegisters<3, kFirstOfA + 1, kFirstOfB + 1>();
      }
    }
  }

  static inline __attribute__((always_inline)) void Load(const float* from) {
    LoadTileRegister<0>(from, kRowBytes);
    if constexpr (kColumnTiles == 2) LoadTileRegister<1>(from + kLanes, kRowBytes);
    if constexpr (kRowTiles == 2) LoadTileRegister<2>(from + kLower, kRowBytes);
    if constexpr (kRowTiles == 2 && kColumnTiles == 2) {
      LoadTileRegister<3>(from + kLower + kLanes, kRowBytes);
    }
  }

  static inline __attribute__((always_inline)) void Store(float* to) {
    StoreTileRegister<0>(to, kRowBytes);
    if constexpr (kColumnTiles == 2) StoreTileRegister<1>(to + kLanes, kRowBytes);
    if constexpr (kRowTiles == 2) StoreTileRegister<2>(to + kLower, kRowBytes);
    if constexpr (kRowTiles == 2 && kColumnTiles == 2) {
      StoreTileRegister<3>(to + kLower + kLanes, kRowBytes);
    }
  }

 private:
  static constexpr int64_t kRowBytes = kTileColumns * sizeof(float);
  static constexpr int64_t kLower = kGemmRegisterRows * kTileColumns;
};

/// A copy of the last block of a unit of B, if that block has fewer than 32 terms. Zeros follow its
/// pairs.
struct LastBlockOfB {
  alignas(64) float pairs[kGemmBlock / 2 * kTileColumns];

  LastBlockOfB(const Panel& panel, int64_t begin, int64_t terms) {
    const int64_t left = terms % kGemmBlock;
    if (left == 0) return;
    std::memset(pairs, 0, sizeof pairs);
    const float* from = panel.Term(begin + terms - left);
    for (int64_t p = 0; p < (left + 1) / 2; ++p, from += panel.step) {
      std::memcpy(pairs + p * kTileColumns, from,
                  static_cast<size_t>(panel.columns) * sizeof(float));
    }
  }
};

// So many terms of a panel are multiplied by all rows of a block, then the next ones. 16 KB of B
// then stay in the first-level cache. One core of a Sapphire Rapids, GFLOP/s of 128 rows by 512
// columns: 128 terms: 1,205, 256: 1,400, 512: 1,340, 1,024: 1,210.
inline constexpr int64_t kRegisterTerms = 256;

/// The floats of a quarter of a panel's block.
inline constexpr int64_t kQuarterOfBlock = kGemmBlock / 2 * kTileColumns / 4;

/// The terms of a panel of a unit that are multiplied at a time.
struct TermsOfB {
  const Panel* panel;
  int64_t unit_begin, begin, end;  // begin and end from unit_begin on
  const LastBlockOfB* last;
  const float* later;  // in the next panel; a quarter of each block is prefetched from here on
};

/// Adds the products of these terms to the sums of up to 32 rows.
template <int kRowTiles, int kColumnTiles>
void AddInRegisters(const float* a, int64_t tile_floats, const TermsOfB& b, float* sums) {
  using Sums = RegisterSums<kRowTiles, kColumnTiles>;
  constexpr int64_t kChunkFloats = kGemmRegisterRows * kGemmChunk / 2, kFloat = sizeof(float);
  int64_t at = b.begin;
  const auto add = [&](const float* pairs, int64_t step) __attribute__((always_inline)) {
    const float* const left = a + at / kGemmChunk * kChunkFloats + at % kGemmChunk / 2;
    Sums::Add(reinterpret_cast<const std::byte*>(left), tile_floats * kFloat,
              reinterpret_cast<const std::byte*>(pairs), step * kFloat);
  };
  at == 0 ? Sums::Clear() : Sums::Load(sums);
  for (const float* later = b.later; at + kGemmBlock <= b.end; at += kGemmBlock) {
    // B comes from the third-level cache. Prefetching makes this 1.06 times as fast.
    for (int64_t i = 0; i < kQuarterOfBlock; i += kLanes) __builtin_prefetch(later + i, 0, 2);
    later += 4 * kQuarterOfBlock;
    add(b.panel->Term(b.unit_begin + at), b.panel->step);
  }
  if (at < b.end) add(b.last->pairs, kTileColumns);
  Sums::Store(sums);
}

/// Transposes 16 x 16 pairs.
inline void TurnPairs(__m512i (&rows)[16]) {
  for (int i = 0; i < 16; i += 4) {
    const __m512i low = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    const __m512i high = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    const __m512i next_low = _mm512_unpacklo_epi32(rows[i + 2], rows[i + 3]);
    const __m512i next_high = _mm512_unpackhi_epi32(rows[i + 2], rows[i + 3]);
    rows[i] = _mm512_unpacklo_epi64(low, next_low);
    rows[i + 1] = _mm512_unpackhi_epi64(low, next_low);
    rows[i + 2] = _mm512_unpacklo_epi64(high, next_high);
    rows[i + 3] = _mm512_unpackhi_epi64(high, next_high);
  }
  // A quarter of rows[4 g + c] has column 4 * quarter + c of rows 4 g to 4 g + 3.
  constexpr int kEvenQuarters = 0x88, kOddQuarters = 0xDD;
  for (int c = 0; c < 4; ++c) {
    const __m512i even = _mm512_shuffle_i32x4(rows[c], rows[4 + c], kEvenQuarters);
    const __m512i odd = _mm512_shuffle_i32x4(rows[c], rows[4 + c], kOddQuarters);
    const __m512i next_even = _mm512_shuffle_i32x4(rows[8 + c], rows[12 + c], kEvenQuarters);
    const __m512i next_odd = _mm512_shuffle_i32x4(rows[8 + c], rows[12 + c], kOddQuarters);
    rows[c] = _mm512_shuffle_i32x4(even, next_even, kEvenQuarters);
    rows[4 + c] = _mm512_shuffle_i32x4(odd, next_odd, kEvenQuarters);
    rows[8 + c] = _mm512_shuffle_i32x4(even, next_even, kOddQuarters);
    rows[12 + c] = _mm512_shuffle_i32x4(odd, next_odd, kOddQuarters);
  }
}

/// The base of the policies that pack A for tile registers. A tile has its chunks one after the
/// other; a chunk has 16 rows.
struct TilesOfA : PairsOfA {
  static constexpr bool kTiles = true;
  static constexpr int64_t kPackedRows = kGemmRegisterRows;
  static constexpr int64_t kRowStep = kGemmChunk / 2, kTermStep = 1;
};

/// Packs an A whose rows are rows of C, as RowsOfA does.
struct TilesOfRowsOfA : TilesOfA {
  using Rest = TilesOfRowsOfA;

  static void Pack(const GemmWork& work, int64_t begin, int64_t end, UnitOfA* unit) {
    const GemmBlock& block = work.block;
    LeastMagnitude least;
    float* to = unit->packed;
    for (int64_t row = block.row_begin; row < block.row_end; row += kPackedRows) {
      ReadBits(work.gemm->a, work.a, row, kPackedRows, block.row_end - 1, begin, end - begin,
               {kNoTermOfA, kGemmBlock}, reinterpret_cast<uint16_t*>(to), kGemmChunk,
               kGemmChunk * kPackedRows, &least);
      to += unit->tile_floats;
    }
    unit->least = least.Value();
  }
};

/// Packs an A whose rows are terms, as ColumnsOfA does. Transposes 16 pairs of 16 rows at a time.
struct TilesOfColumnsOfA : TilesOfA {
  using Rest = TilesOfColumnsOfA;

  static void Pack(const GemmWork& work, int64_t begin, int64_t end, UnitOfA* unit) {
    const GemmBlock& block = work.block;
    const TapMatrix& a = work.gemm->a;
    const Run run(a, block.row_begin, block.row_end - block.row_begin);
    LeastMagnitude least;
    for (int64_t q = begin; q < end; q += kGemmBlock) {
      uint16_t dense[kGemmBlock][kGemmRowsOfTiles];
      const uint16_t* lines[kGemmBlock];
      const int64_t terms = Least(kGemmBlock, end - q);
      for (int64_t t = 0; t < terms; ++t) {
        const std::byte* const from = run.Of(a, work.a, q + t);
        if (a.view.step != 1) CopyStrided(from, a.view.step, dense[t], 1, run.count, 2);
        lines[t] = a.view.step != 1 ? dense[t] : reinterpret_cast<const uint16_t*>(from);
      }
      const int64_t next = terms > 1 ? (lines[1] - lines[0]) * kGemmBlock : 0;
      const int64_t at = q - begin;
      float* to = unit->packed + at / kGemmChunk * (kPackedRows * kRowStep) + at % kGemmChunk / 2;
      for (int64_t row = 0; row < run.count; row += kPackedRows, to += unit->tile_floats) {
        if (row % (2 * kPackedRows) == 0) {
          for (int64_t t = 0; t < terms; ++t) __builtin_prefetch(lines[t] + next + row);
        }
        Turn(lines, terms, row, Least(run.count - row, kPackedRows), to, &least);
      }
    }
    unit->least = least.Value();
  }

 private:
  static void Turn(const uint16_t* const* lines, int64_t terms, int64_t row, int64_t rows,
                   float* to, LeastMagnitude* least) {
    const auto mask = static_cast<__mmask16>((uint32_t{1} << rows) - 1);
    const auto line = [&](int64_t term) {
      if (term >= terms) return _mm512_set1_epi32(kNoTermOfA);
      return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, lines[term] + row));
    };
    __m512i pairs[16];
    for (int p = 0; p < 16; ++p) {
      pairs[p] = _mm512_or_si512(line(2 * p), _mm512_slli_epi32(line(2 * p + 1), 16));
      least->See(pairs[p]);
    }
    TurnPairs(pairs);
    for (int r = 0; r < kPackedRows; ++r) _mm512_storeu_si512(to + r * kRowStep, pairs[r]);
  }
};

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
