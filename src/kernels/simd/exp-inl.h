// SPDX-License-Identifier: Apache-2.0
// The exponential of sixteen lanes, for arguments that are not positive.
#pragma once

#include "kernels/simd/lanes-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

/// e^r for |r| <= ln 2 / 2 by its Taylor series to r^7; the rest is below 2^-27.
inline __attribute__((always_inline)) F32x16 SeriesOfE(F32x16 r) {
  constexpr float kSeries[] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24,
                               1.0f / 6,    0.5f,       1.0f,       1.0f};
  F32x16 power = F32x16::Broadcast(kSeries[0]);
  for (int i = 1; i < 8; ++i) power = power * r + F32x16::Broadcast(kSeries[i]);
  return power;
}

/// e^x for x <= 0, within 2 units in the last place; 0 below about -104, NaN for NaN.
///
/// x = n ln 2 + r, |r| <= ln 2 / 2. ln 2 is subtracted in two parts, the first short enough that n
/// times it is exact. No FMA: every target gives the same bits.
inline __attribute__((always_inline)) F32x16 ExpOfNonPositive(F32x16 x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRoundToWhole = 12582912.0f;  // 1.5 * 2^23: adding it leaves no fraction
  constexpr float kLeast = -157.35f;            // whose second factor is 0, see below
  constexpr float kNormal = -100.0f;            // from which n on 2^n e^r is far from denormal
  const auto all = [](float value) { return F32x16::Broadcast(value); };
  x = F32x16::Max(all(kLeast), x);
  const F32x16 whole = x * all(kLog2E) + all(kRoundToWhole);
  const F32x16 n = whole - all(kRoundToWhole);
  const F32x16 r = (x - n * all(kLn2High)) - n * all(kLn2Low);
  // Speeds against the two factors below for all, AVX-512 and AVX2: softmax of 512 x 2048 1.1; of
  // 256 x 256 with a causal mask, whose upper half is 0, 1.2.
  if (n.AtLeast(all(kNormal))) [[likely]] {
    return SeriesOfE(r).TimesPowerOfTwo(whole);
  }
  if (all(kLeast).AtLeast(x)) return all(0.0f);
  // 2^n in two factors, so that results below the normal range come out as denormals; but that of
  // kLeast, which has no exponent left, is 0 itself: a product that underflows takes a processor
  // dozens of cycles, and masked elements are many.
  const F32x16 half = F32x16::Max(n, all(kNormal));
  return SeriesOfE(r) * F32x16::PowerOfTwo(half) * F32x16::PowerOfTwo(n - half);
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
