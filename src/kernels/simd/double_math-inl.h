// SPDX-License-Identifier: Apache-2.0
// Functions of a double, written so that loops over them become vectors.
//
// Within 1.1 units in the last place, denormals too. Nothing here branches or calls libm, and what
// is fused is written out: every instruction set with FMA, and the scalar rest of a loop, gives the
// same bits.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/simd/mul_add-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

// ln 2 in two parts, the first short enough that a whole number of at most 12 bits times it is
// exact.
inline constexpr double kLn2High = 0x1.62e42fefa3000p-1, kLn2Low = 0x1.3de6af278ece6p-42;
inline constexpr double kRoundToWhole = 0x1.8p52;  // adding it leaves no fraction

/// Whether to divide by a number is to multiply by its inverse: it is a power of two.
inline bool InverseIsExact(double divisor) {
  constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1;
  return (std::bit_cast<uint64_t>(divisor) & kFraction) == 0;
}

/// e^x = mantissa * 2^n, n in the last bits of `whole`.
template <class V>
struct PowerOfE {
  V mantissa, whole;
};

/// A vector of the same double, or that double.
template <class V>
__attribute__((always_inline)) inline V All(double value) {
  const V zero = {};
  return zero + value;
}

/// The power of e of a double or of a vector of them; for |x| <= 1000. x = n ln 2 + r, |r| <= ln 2
/// / 2; e^r = 1 + r + r^2 q(r), q a polynomial that is off by at most 2^-55, evaluated in short
/// chains.
template <class V>
__attribute__((always_inline)) inline PowerOfE<V> PowerOf(V x) {
  constexpr double kQ[] = {0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,
                           0x1.11111111109b3p-7,  0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13,
                           0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19, 0x1.289185613a3d6p-22,
                           0x1.af38a9b0ec855p-26};
  const V whole = MulAdd(x, All<V>(0x1.71547652b82fep0), All<V>(kRoundToWhole));
  const V n = whole - kRoundToWhole;
  const V r = MulAdd(n, All<V>(-kLn2Low), MulAdd(n, All<V>(-kLn2High), x));
  const V r2 = r * r, r4 = r2 * r2;
  // All sets every element; the analyzer does not follow it through vectors.
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
  const auto two = [&](int i) { return MulAdd(All<V>(kQ[i + 1]), r, All<V>(kQ[i])); };
  const V low = MulAdd(two(2), r2, two(0)), middle = MulAdd(two(6), r2, two(4));
  const V q = MulAdd(MulAdd(two(8), r4, middle), r4, low);
  return {MulAdd(q, r2, r) + 1.0, whole};
}

inline double Exp(double x) {
  x = x < -750 ? -750 : x;
  x = x > 710 ? 710 : x;
  const PowerOfE<double> power = PowerOf(x);
  // 2^n in two factors, so that results below the normal range come out as denormals.
  const double half = (power.whole - kRoundToWhole) * 0.5 + kRoundToWhole;
  const auto bits = std::bit_cast<uint64_t>(half);
  const uint64_t rest = std::bit_cast<uint64_t>(power.whole) - bits;
  return power.mantissa * std::bit_cast<double>((bits + 1023) << 52) *
         std::bit_cast<double>((rest + 1023) << 52);
}

/// ln x + more for positive, normal x, where `more` is at most x's last digit.
inline double LogarithmAnd(double x, double more) {
  constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD, kBias = 1024;
  const auto bits = std::bit_cast<uint64_t>(x);
  // x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2))
  const uint64_t biased = (bits - kRootOfHalf + (kBias << 52)) >> 52;
  const double f = std::bit_cast<double>(bits - ((biased - kBias) << 52)) - 1;
  const double e = std::bit_cast<double>(biased | 0x4330000000000000) - (0x1p52 + kBias);
  // ln(1 + f) = 2 artanh s = f - f^2/2 + s (f^2/2 + rest), s = f / (2 + f); rest is off by at most
  // 2^-57 of the result.
  constexpr double kSeries[] = {0x1.2b584aae78a57p-3, 0x1.39fe606542ddep-3, 0x1.7462b4ab2ef6bp-3,
                                0x1.c71c62e5800a1p-3, 0x1.2492492df148dp-2, 0x1.99999999952e2p-2,
                                0x1.5555555555558p-1};
  const double s = f / (2 + f), z = s * s, z2 = z * z;
  const double odd = MulAdd(z2, MulAdd(z2, kSeries[1], kSeries[3]), kSeries[5]);
  const double even =
      MulAdd(z2, MulAdd(z2, MulAdd(z2, kSeries[0], kSeries[2]), kSeries[4]), kSeries[6]);
  const double rest = MulAdd(z2, odd, z * even), square = f * f * 0.5;
  const double low = MulAdd(s, square + rest, MulAdd(e, kLn2Low, more));
  return MulAdd(e, kLn2High, -((square - low) - f));
}

/// A logarithm of x, found for what is positive and finite.
inline double LogarithmAtEdge(double x, double found) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double result = x == kInfinity ? x : found;
  result = x == 0 ? -kInfinity : result;
  return x >= 0 ? result : std::numeric_limits<double>::quiet_NaN();
}

inline double Log(double x) {
  const bool tiny = x < 0x1p-1022;
  const double found = LogarithmAnd(tiny ? x * 0x1p54 : x, 0);
  // As if the exponent had been smaller: what is added is small beside the logarithm.
  return LogarithmAtEdge(x, tiny ? found - 54 * kLn2High - 54 * kLn2Low : found);
}

/// ln(1 + x)
inline double Log1p(double x) {
  const double sum = 1 + x, back = sum - x;
  const double lost = (x - (sum - back)) + (1 - back);  // exact
  const double result = LogarithmAtEdge(sum, LogarithmAnd(sum, lost / sum));
  return x == 0 ? x : result;  // which has the sign of x
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
