// SPDX-License-Identifier: Apache-2.0
// Functions of a float, written so that loops over them become vectors.
//
// The exponential and erf are computed in float, within 1.05 and 1.3 units in the last place; the
// others in double and rounded once, within 0.51. A test goes over floats of every magnitude.
// Nothing here branches or calls libm, and what is fused is written out: every instruction set with
// FMA, and the scalar rest of a loop, gives the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/simd/mul_add-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

/// c[0] x^(n-1) + … + c[n-1]
template <class T, int kTerms>
inline T Polynomial(T x, const T (&c)[kTerms]) {
  T sum = c[0];
#pragma GCC unroll 8
  for (int i = 1; i < kTerms; ++i) sum = MulAdd(sum, x, c[i]);
  return sum;
}

/// e^x = power * (1 + rest), |rest| < 0.42: x = n ln 2 + r, power = 2^n, rest = e^r - 1.
struct Exponential {
  double power, rest;
};

/// For x in [-750, 700] and NaN.
inline Exponential ExponentialOf(double x) {
  constexpr double kRoundToWhole = 0x1.8p52;  // adding it leaves no fraction
  constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.69314718055994531;
  // (e^r - 1) / r on [-ln 2 / 2, ln 2 / 2], within 2^-31.
  constexpr double kSeries[] = {1.98992855758962823e-4,
                                1.39411188958370008e-3,
                                8.33329846980058942e-3,
                                4.16663527711122113e-2,
                                0.166666667190289349,
                                0.500000004714605742,
                                1.0};
  const double whole = MulAdd(x, kLog2E, kRoundToWhole);
  const double r = MulAdd(whole - kRoundToWhole, -kLn2, x);
  const uint64_t exponent = (std::bit_cast<uint64_t>(whole) + 1023) << 52;
  return {std::bit_cast<double>(exponent), r * Polynomial(r, kSeries)};
}

/// x where it is in [low, high] or NaN, else the nearer end.
inline double Within(double low, double x, double high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

/// e^x = power * 2^exponent, in float: half the work of the others. For |x| <= 176.
struct FloatExponential {
  float power;
  int32_t exponent;
};

inline FloatExponential FloatExponentialOf(float x) {
  constexpr float kRoundToWhole = 12582912.0f;  // 1.5 * 2^23
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  // (e^r - 1 - r) / r^2 on [-ln 2 / 2, ln 2 / 2], within 2^-23 of e^r - 1.
  constexpr float kSeries[] = {1.392619106e-3f, 8.363185032e-3f, 0.04166655457f, 0.1666657695f,
                               0.5f};
  const float whole = MulAdd(x, kLog2E, kRoundToWhole), n = whole - kRoundToWhole;
  const float r = MulAdd(n, -kLn2Low, MulAdd(n, -kLn2High, x));
  return {1.0f + MulAdd(r * r, Polynomial(r, kSeries), r),
          static_cast<int32_t>(std::bit_cast<uint32_t>(whole) - 0x4B400000)};
}

inline float FloatPowerOfTwo(int32_t exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

/// Within 1 unit in the last place. 2^n comes in two factors, so that results below the normal
/// range come out as denormals; from -176 on, where they have no exponent left, the factors are 0
/// themselves: a product that underflows takes a processor dozens of cycles.
inline float Exp(float x) {
  x = x < -176.0f ? -176.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const FloatExponential e = FloatExponentialOf(x);
  const int32_t half = e.exponent >> 1;
  return e.power * FloatPowerOfTwo(half) * FloatPowerOfTwo(e.exponent - half);
}

/// e^x - 1
inline float Expm1(float x) {
  const Exponential e = ExponentialOf(Within(-110, x, 90));
  const auto result = static_cast<float>(MulAdd(e.power, e.rest, e.power - 1));
  return x == 0 ? x : result;  // which has the sign of x
}

inline float Tanh(float x) {
  // tanh |x| = -d / (d + 2), d = e^(-2 |x|) - 1
  const Exponential e = ExponentialOf(Within(-110, -2 * std::fabs(static_cast<double>(x)), 0));
  const double d = MulAdd(e.power, e.rest, e.power - 1);
  return static_cast<float>(std::copysign(d / (d + 2), static_cast<double>(x)));
}

inline float Erf(float x) {
  const float magnitude = std::fabs(x);
  // erf(x) / x - 1 by x^2, |x| < 1; erfc(x) e^(x^2) by 2 / (2 + x), 1 <= x <= 4.
  constexpr float kFirst = 0.128379167f;
  constexpr float kSmall[] = {8.379755582e-5f, -8.16198654e-4f, 5.204578779e-3f,
                              -0.02686169995f, 0.1128375366f,   -0.3761263838f};
  constexpr float kLarge[] = {-0.05363042808f, -0.05706519996f, 0.4034950533f, 0.1014954124f,
                              0.3307571337f,   0.2736343401f,   6.05118391e-4f};
  const float square = magnitude * magnitude;
  const float first = MulAdd(square, Polynomial(square, kSmall), kFirst);
  const float small = MulAdd(magnitude, first, magnitude);
  float far = magnitude > 4.0f ? 4.0f : magnitude;  // from 4 on it is 1
  far = far < 1.0f ? 1.0f : far;
  const FloatExponential e = FloatExponentialOf(-far * far);
  const float power = e.power * FloatPowerOfTwo(e.exponent);
  const float large = MulAdd(-power, Polynomial(2 / (2 + far), kLarge), 1.0f);
  return std::copysign(magnitude < 1.0f ? small : large, x);
}

/// ln x for positive, normal x.
inline double Logarithm(double x) {
  constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD, kBias = 1024;
  const auto bits = std::bit_cast<uint64_t>(x);
  // x = 2^e m, m in [sqrt(1/2), sqrt(2))
  const uint64_t biased = (bits - kRootOfHalf + (kBias << 52)) >> 52;
  const double m = std::bit_cast<double>(bits - ((biased - kBias) << 52));
  const double e = std::bit_cast<double>(biased | 0x4330000000000000) - (0x1p52 + kBias);
  // ln m = 2 artanh s = 2 s (1 + s^2 (...)), within 2^-34.
  constexpr double kSeries[] = {0.116654820258860201, 0.142754012766383551, 0.200000610004084404,
                                0.333333332771500901};
  const double s = (m - 1) / (m + 1), square = s * s;
  const double half = MulAdd(s * square, Polynomial(square, kSeries), s);
  return MulAdd(e, 0.69314718055994531, 2 * half);
}

/// A logarithm of x, found for what is positive and finite.
inline float LogarithmOrEdge(double x, double found) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double result = x == kInfinity ? x : found;
  result = x == 0 ? -kInfinity : result;
  result = x >= 0 ? result : std::numeric_limits<double>::quiet_NaN();
  return static_cast<float>(result);
}

inline float Log(float x) { return LogarithmOrEdge(x, Logarithm(x)); }
inline float Log2(float x) { return LogarithmOrEdge(x, Logarithm(x) * 1.4426950408889634); }
inline float Log10(float x) { return LogarithmOrEdge(x, Logarithm(x) * 0.43429448190325183); }

/// ln(1 + x)
inline float Log1p(float x) {
  const double d = x, sum = 1 + d;
  const double small = d * MulAdd(-d, MulAdd(d, -1.0 / 3, 0.5), 1.0);
  return LogarithmOrEdge(sum, std::fabs(d) < 0x1p-12 ? small : Logarithm(sum));
}

/// Up to here sine and cosine know their quarter.
inline constexpr float kFarthestAngle = 1048576;

/// x = n pi/2 + r, |r| <= pi/4: the sine and the cosine of r, and n.
struct Angle {
  double sine, cosine;
  uint64_t quarter;
};

inline Angle AngleOf(double x) {
  constexpr double kRoundToWhole = 0x1.8p52, kTwoOverPi = 0.63661977236758134;
  // pi/2 in three parts, of which n times the first two is exact.
  constexpr double kHigh = 0x1.921fb544p+0, kMiddle = 0x1.0b4611a6p-34,
                   kLow = 0x1.3198a2e037073p-69;
  const double whole = MulAdd(x, kTwoOverPi, kRoundToWhole), n = whole - kRoundToWhole;
  const double r = MulAdd(n, -kLow, MulAdd(n, -kMiddle, MulAdd(n, -kHigh, x))), square = r * r;
  constexpr double kSine[] = {2.72498952306116781e-6, -1.98400864995935981e-4,
                              8.33333187427371367e-3, -0.16666666663854167};
  constexpr double kCosine[] = {-2.73009336872129431e-7, 2.48006001803638087e-5,
                                -1.38888876716525039e-3, 0.0416666666643202666};
  return {MulAdd(r * square, Polynomial(square, kSine), r),
          MulAdd(square * square, Polynomial(square, kCosine), MulAdd(square, -0.5, 1.0)),
          std::bit_cast<uint64_t>(whole)};
}

/// For |x| up to kFarthestAngle.
inline float NearSin(float x) {
  const Angle angle = AngleOf(x);
  const double value = (angle.quarter & 1) != 0 ? angle.cosine : angle.sine;
  const double result = (angle.quarter & 2) != 0 ? -value : value;
  return x == 0 ? x : static_cast<float>(result);  // which has the sign of x
}
inline float NearCos(float x) {
  const Angle angle = AngleOf(x);
  const double value = (angle.quarter & 1) != 0 ? angle.sine : angle.cosine;
  return static_cast<float>(((angle.quarter + 1) & 2) != 0 ? -value : value);
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
