// SPDX-License-Identifier: Apache-2.0
// Lanes of 64 and 32 bits, as many as a register of the instruction set has: integers and floats.
//
// To be included by files that are compiled once for each target; everything lives in the target's
// namespace. Most operators are the compiler's, which are exact or rounded once on every target.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "kernels/simd/register-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

inline constexpr int kWideLanes = kRegisterBytes / 8;

typedef uint64_t U64s __attribute__((vector_size(kRegisterBytes)));
typedef int64_t I64s __attribute__((vector_size(kRegisterBytes)));
typedef double F64s __attribute__((vector_size(kRegisterBytes)));
typedef uint32_t U32s __attribute__((vector_size(kRegisterBytes)));
typedef int32_t I32s __attribute__((vector_size(kRegisterBytes)));
typedef float F32s __attribute__((vector_size(kRegisterBytes)));

inline U64s AllOf(uint64_t value) { return U64s{} + value; }
inline F64s AllOf(double value) { return F64s{} + value; }

inline U64s BitsOf(F64s value) { return reinterpret_cast<U64s>(value); }
inline F64s FromBits(U64s bits) { return reinterpret_cast<F64s>(bits); }

/// The products of the low halves of lanes.
inline U64s MultiplyHalves(U64s a, U64s b) {
#if defined(__AVX512F__)
  return reinterpret_cast<U64s>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<U64s>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE4_2__)
  return reinterpret_cast<U64s>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return reinterpret_cast<U64s>(vmull_u32(vmovn_u64(reinterpret_cast<uint64x2_t>(a)),
                                          vmovn_u64(reinterpret_cast<uint64x2_t>(b))));
#endif
}

inline F64s SquareRoot(F64s a) {
#if defined(__AVX512F__)
  return reinterpret_cast<F64s>(_mm512_sqrt_pd(reinterpret_cast<__m512d>(a)));
#elif defined(__AVX2__)
  return reinterpret_cast<F64s>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(a)));
#elif defined(__SSE4_2__)
  return reinterpret_cast<F64s>(_mm_sqrt_pd(reinterpret_cast<__m128d>(a)));
#else
  return reinterpret_cast<F64s>(vsqrtq_f64(reinterpret_cast<float64x2_t>(a)));
#endif
}

/// Integers below 2^53 as doubles: their halves beside the exponents that make them whole.
inline F64s ToDoubles(U64s value) {
  const F64s low = FromBits((value & 0xFFFFFFFFu) | uint64_t{0x4330000000000000});  // 2^52 +
  const F64s high = FromBits((value >> 32) | uint64_t{0x4530000000000000});         // 2^84 + 2^32 *
  return (high - (0x1p84 + 0x1p52)) + low;
}

/// ln x for normal x in (0, 1], within 2 units in the last place.
///
/// x = 2^k m with m between the roots of 1/2 and 2; ln m = 2 artanh(s) for s = (m - 1) / (m + 1) by
/// its series to s^23 (the rest is below 2^-58). k times the first part of ln 2 is exact.
inline F64s LogOf(F64s x) {
  constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCC, kOne = 0x3FF0000000000000;
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  const U64s bits = BitsOf(x) + (kOne - kRootOfHalf);
  const F64s k = FromBits((bits >> 52) | uint64_t{0x4330000000000000}) - (0x1p52 + 1023);
  const F64s m = FromBits((bits & uint64_t{0x000FFFFFFFFFFFFF}) + kRootOfHalf);
  const F64s s = (m - 1.0) / (m + 1.0), z = s * s;
  F64s series = AllOf(1.0 / 23);
#pragma GCC unroll 10
  for (int odd = 21; odd >= 3; odd -= 2) series = series * z + 1.0 / odd;
  const F64s twice = s + s;
  return k * kLn2High + (twice + (twice * (z * series) + k * kLn2Low));
}

struct CosineAndSine {
  F64s cosine, sine;
};

/// Those of x turns, x in [0, 1], within 2 units in the last place.
///
/// x is q quarters and at most an eighth of a turn, which is exact; the sine and the cosine of that
/// by their series to the 17th and 16th power (the rest is below 2^-58).
inline CosineAndSine OfTurns(F64s x) {
  constexpr double kRoundToWhole = 0x1.8p52;  // adding it leaves no fraction
  constexpr double kTurn = 0x1.921fb54442d18p+2;
  constexpr double kSine[] = {
      1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
      1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
  constexpr double kCosine[] = {
      1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800,
      1.0 / 40320,          -1.0 / 720,         1.0 / 24,        -1.0 / 2};
  const F64s quarter = (x * 4.0 + kRoundToWhole) - kRoundToWhole;
  const F64s angle = (x - quarter * 0.25) * kTurn, z = angle * angle;
  F64s of_sine = AllOf(kSine[0]), of_cosine = AllOf(kCosine[0]);
#pragma GCC unroll 8
  for (int i = 1; i < 8; ++i) {
    of_sine = of_sine * z + kSine[i];
    of_cosine = of_cosine * z + kCosine[i];
  }
  const F64s sine = angle + angle * (z * of_sine), cosine = 1.0 + z * of_cosine;
  const I64s first = quarter == 1.0, second = quarter == 2.0, third = quarter == 3.0;
  const F64s along = (first | third) ? sine : cosine, across = (first | third) ? cosine : sine;
  return {(first | second) ? -along : along, (second | third) ? -across : across};
}

/// Lanes of both in turn, from lane kFrom on.
template <int kFrom, int... kAt>
F64s InTurn(F64s even, F64s odd, std::integer_sequence<int, kAt...>) {
  return __builtin_shufflevector(even, odd, (kFrom + kAt / 2 + kAt % 2 * kWideLanes)...);
}

/// Stores the lanes of both in turn.
inline void StoreInTurn(F64s even, F64s odd, double* to) {
  constexpr auto kAll = std::make_integer_sequence<int, kWideLanes>();
  const F64s both[] = {InTurn<0>(even, odd, kAll), InTurn<kWideLanes / 2>(even, odd, kAll)};
  std::memcpy(to, both, sizeof both);
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
