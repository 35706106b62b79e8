// SPDX-License-Identifier: Apache-2.0
// Sums over a row, by the one tree: at most 64 terms in sequence for each lane of an accumulator.
#pragma once

#include "kernels/simd/lanes-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

/// Accumulators that groups of lanes go to in turn: enough to hide the latency of the addition.
inline constexpr int kAccumulators = 4;

/// Elements of a block, within which each lane of each accumulator adds 64 terms.
inline constexpr int64_t kSumBlock = 64 * kAccumulators * kLanes;

/// The block that begins at `begin`, lane by lane.
template <class Term>
inline __attribute__((always_inline)) F32x16 SumBlock(int64_t begin, int64_t end, Term&& term) {
  F32x16 sums[kAccumulators];
  for (F32x16& sum : sums) sum = F32x16::Broadcast(0.0f);
  constexpr int64_t kStep = kAccumulators * kLanes;
  int64_t j = begin;
  for (; j + kStep <= end; j += kStep) {
    for (int k = 0; k < kAccumulators; ++k) {
      sums[k] = sums[k] + term(j + k * kLanes, WholeLanes());
    }
  }
  for (int k = 0; j < end; j += kLanes, ++k) {
    const F32x16 last = end - j < kLanes ? term(j, TailLanes{end - j}) : term(j, WholeLanes());
    // An index that is not constant would keep the accumulators in memory.
    for (int i = 0; i < kAccumulators; ++i) {
      if (i == k) sums[i] = sums[i] + last;
    }
  }
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/// The sum of term(j, lanes) over the groups of lanes of [0, n), n at most 64 blocks. A term is 0
/// in lanes beyond n.
template <class Term>
inline __attribute__((always_inline)) float Sum(int64_t n, Term&& term) {
  F32x16 sum = SumBlock(0, n < kSumBlock ? n : kSumBlock, term);
  for (int64_t j = kSumBlock; j < n; j += kSumBlock) {
    sum = sum + SumBlock(j, n - j < kSumBlock ? n : j + kSumBlock, term);
  }
  return sum.Sum();
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
