// SPDX-License-Identifier: Apache-2.0
// A tile of a matrix product: its sums stay in registers for a chunk, then join the tree.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/gemm/gemm.h"
#include "kernels/simd/lanes-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

// A tile has as many sums as the registers hold beside a row of B and an element of A. A smaller
// tile, of kFewRows, is for few rows that are left over.
#if defined(__AVX512F__)
inline constexpr int kTileRows = 12, kFewRows = 4, kTileVectors = 2;
#elif defined(__AVX2__) || defined(__aarch64__)
inline constexpr int kTileRows = 6, kFewRows = 2, kTileVectors = 1;
#else
inline constexpr int kTileRows = 2, kFewRows = 1, kTileVectors = 1;
#endif
inline constexpr int64_t kTileColumns = kTileVectors * kLanes;
static_assert(kGemmRows % kTileRows == 0);

// Clang accepts VDPBF16PS only if the whole file is compiled for processors that have it.
#if defined(__AVX512F__) && (!defined(__clang__) || defined(__AVX512BF16__))
#define OPENACLNN_PAIRS 1
#endif

/// Tells whether to prefetch rows of B 16 terms ahead, from the second-level cache. This makes
/// AVX-512 3 % faster, and AVX2 on a Zen 3 up to 7 % slower.
#if defined(__AVX2__) && !defined(__AVX512F__)
inline constexpr bool kEarlyB = false;
#else
inline constexpr bool kEarlyB = true;
#endif

/// Sums that wait in memory for their partner, by their level in the tree.
struct Waiting {
  float* sums;
  int64_t level_step, row_step;

  float* Place(int64_t level, int row, int vector) const {
    return sums + level * level_step + row * row_step + vector * kLanes;
  }
};

template <int kRows, int kVectors>
struct Tile {
  static constexpr int kRowCount = kRows, kVectorCount = kVectors;

  F32x16 sum[kRows][kVectors];
  static_assert(kRows <= 12);

  /// Calls body(sum, row, vector) for each sum. Spelled out, or the compiler would keep the sums in
  /// memory between chunks: measured 3 to 4 % slower.
  template <class Body>
  inline __attribute__((always_inline)) void ForEach(Body&& body) {
    Spell(body, std::make_integer_sequence<int, kRows * kVectors>());
  }

  /// Sums the products of up to a chunk of terms, of each pair the second first. Element (row,
  /// term) of A is a[row * row_step + term * term_step]; terms of B are b_step elements apart. A
  /// step of 0 stands for a_step. A row_step that the compiler knows (kRowStep) is 2 to 5 % faster.
  template <int64_t kRowStep, int64_t kTermStep>
  inline __attribute__((always_inline)) void Multiply(const float* a, int64_t a_step,
                                                      const float* b, int64_t b_step,
                                                      int64_t terms) {
    Clear();
    const int64_t row_step = kRowStep != 0 ? kRowStep : a_step;
    const int64_t term_step = kTermStep != 0 ? kTermStep : a_step;
    // Two pointers and six offsets address twelve rows and leave registers to spare.
    const int64_t offset[] = {0, row_step, 2 * row_step, 3 * row_step, 4 * row_step, 5 * row_step};
    const float* upper = a + 6 * row_step;
    const auto add = [&](int64_t term, const float* from) __attribute__((always_inline)) {
      if constexpr (kEarlyB) {
        for (int v = 0; v < kVectors; ++v) __builtin_prefetch(from + 16 * b_step + v * kLanes);
      }
      if (kTermStep == 0) __builtin_prefetch(a + (16 + term) * term_step);
      F32x16 right[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) right[v] = F32x16::Load(from + v * kLanes);
      ForEach([&](F32x16& s, int r, int v) {
        const int64_t at = term * term_step;
        const float left = kRowStep != 0 ? a[r * kRowStep + at]
                           : r < 6       ? a[offset[r % 6] + at]
                                         : upper[offset[r % 6] + at];
        s = F32x16::MulAdd(F32x16::Broadcast(left), right[v], s);
      });
    };
    for (int64_t q = 0; q + 2 <= terms; q += 2) {
      add(1, b + b_step);
      add(0, b);
      a += 2 * term_step;
      upper += 2 * term_step;
      b += 2 * b_step;
    }
    if (terms % 2 != 0) add(0, b);
  }

  /// Sums `count` products in one chain of FMAs.
  template <int64_t kRowStep, int64_t kTermStep>
  inline __attribute__((always_inline)) void MultiplyChain(const float* a, const float* b,
                                                           int64_t b_step, int64_t count) {
    Clear();
    for (int64_t q = 0; q < count; ++q, a += kTermStep, b += b_step) {
      for (int v = 0; v < kVectors; ++v) __builtin_prefetch(b + 8 * b_step + v * kLanes);
      F32x16 right[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) right[v] = F32x16::Load(b + v * kLanes);
      ForEach([&](F32x16& s, int r, int v) {
        s = F32x16::MulAdd(F32x16::Broadcast(a[r * kRowStep]), right[v], s);
      });
    }
  }

  /// Adds a block (kGemmBlock) to `before`, the sum of the previous blocks, and stores the new sum
  /// there. chain(parity) computes the chain of the terms at even (0) or odd (1) places.
  template <class Chain>
  inline __attribute__((always_inline)) void AddBlock(float* before, Chain&& chain) {
    alignas(64) float even[kRows * kTileColumns];
    chain(0);
    ForEach([&](F32x16& s, int r, int v) { s.Store(even + r * kTileColumns + v * kLanes); });
    chain(1);
    ForEach([&](F32x16& s, int r, int v) {
      const int64_t at = r * kTileColumns + v * kLanes;
      s = F32x16::Load(before + at) + (F32x16::Load(even + at) + s);
      s.Store(before + at);
    });
  }

  inline __attribute__((always_inline)) void Clear() {
    ForEach([](F32x16& s, int, int) { s = F32x16::Broadcast(0.0f); });
  }

  inline __attribute__((always_inline)) void AddFrom(const Waiting& waiting, int64_t level) {
    ForEach([&](F32x16& s, int r, int v) { s = F32x16::Load(waiting.Place(level, r, v)) + s; });
  }

  /// Adds those of the `index` earlier sums that have the same level, as a carry ripples through a
  /// counter.
  inline __attribute__((always_inline)) void Join(const Waiting& waiting, int64_t index) {
    for (int64_t level = 0; (index >> level & 1) != 0; ++level) AddFrom(waiting, level);
  }

  /// Stores the sums until the next ones join them.
  inline __attribute__((always_inline)) void Wait(const Waiting& waiting, int64_t index) {
    const int level = __builtin_ctzll(~static_cast<uint64_t>(index));
    ForEach([&](F32x16& s, int r, int v) { s.Store(waiting.Place(level, r, v)); });
  }

  /// Adds, after the last sum, all sums that still wait, the youngest first.
  inline __attribute__((always_inline)) void JoinRest(const Waiting& waiting, int64_t index) {
    const auto count = static_cast<uint64_t>(index) + 1;
    const int lowest = __builtin_ctzll(count);
    for (int level = lowest + 1; count >> level != 0; ++level) {
      if ((count >> level & 1) != 0) AddFrom(waiting, level);
    }
  }

 private:
  template <class Body, int... kIndices>
  inline __attribute__((always_inline)) void Spell(Body& body,
                                                   std::integer_sequence<int, kIndices...>) {
    (body(sum[kIndices / kVectors][kIndices % kVectors], kIndices / kVectors, kIndices % kVectors),
     ...);
  }
};

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
