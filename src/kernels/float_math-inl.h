// SPDX-License-Identifier: Apache-2.0
// Functions of a float, written so that loops over them become vectors.
//
// Each is computed in double from a short polynomial and rounded once, within 0.52 units in the
// last place (tests/kernels/float_math_test.cc goes over all floats). Nothing here branches,
// contracts or calls libm: every instruction set, and the scalar rest of a loop, gives the same
// bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace openaclnn {
namespace OPENACLNN_TARGET {

/// c[0] x^(n-1) + … + c[n-1]
template <int kTerms>
inline double Polynomial(double x, const double (&c)[kTerms]) {
  double sum = c[0];
  for (int i = 1; i < kTerms; ++i) sum = sum * x + c[i];
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
  const double whole = x * kLog2E + kRoundToWhole;
  const double r = x - (whole - kRoundToWhole) * kLn2;
  const uint64_t exponent = (std::bit_cast<uint64_t>(whole) + 1023) << 52;
  return {std::bit_cast<double>(exponent), r * Polynomial(r, kSeries)};
}

/// x where it is in [low, high] or NaN, else the nearer end.
inline double Within(double low, double x, double high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

inline float Exp(float x) {
  const Exponential e = ExponentialOf(Within(-110, x, 90));  // beyond, a float is 0 or infinite
  return static_cast<float>(e.power + e.power * e.rest);
}

/// e^x - 1
inline float Expm1(float x) {
  const Exponential e = ExponentialOf(Within(-110, x, 90));
  const auto result = static_cast<float>(e.power * e.rest + (e.power - 1));
  return x == 0 ? x : result;  // which has the sign of x
}

inline float Tanh(float x) {
  // tanh |x| = -d / (d + 2), d = e^(-2 |x|) - 1
  const Exponential e = ExponentialOf(Within(-110, -2 * std::fabs(static_cast<double>(x)), 0));
  const double d = e.power * e.rest + (e.power - 1);
  return static_cast<float>(std::copysign(d / (d + 2), static_cast<double>(x)));
}

inline float Erf(float x) {
  const double magnitude = std::fabs(static_cast<double>(x));
  // erf(x) / x by x^2, |x| < 1; erfc(x) e^(x^2) by 2 / (2 + x), 1 <= x <= 4. Both within 2^-32.
  constexpr double kSmall[] = {-9.66704457148699642e-6, 1.1265959025606609e-4,
                               -8.48408040553510629e-4, 5.2210318078580228e-3,
                               -0.0268654307276702429,  0.112837824952368445,
                               -0.376126384680287104,   1.12837916706154342};
  constexpr double kLarge[] = {0.12085243316317102,  -0.47652527438460933,   0.57126517581198151,
                               -0.11020829405569383, 0.35103032317878854,    0.25875136638551912,
                               0.28506162011557063,  -0.00016423638708161766};
  const double small = magnitude * Polynomial(magnitude * magnitude, kSmall);
  const double far = Within(1, magnitude, 4);  // from 4 on a float is 1
  const Exponential e = ExponentialOf(-far * far);
  const double large = 1 - (e.power + e.power * e.rest) * Polynomial(2 / (2 + far), kLarge);
  return static_cast<float>(std::copysign(magnitude < 1 ? small : large, static_cast<double>(x)));
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
  return e * 0.69314718055994531 + 2 * (s + s * square * Polynomial(square, kSeries));
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
  const double small = d * (1 - d * (0.5 - d * (1.0 / 3)));
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
  const double whole = x * kTwoOverPi + kRoundToWhole, n = whole - kRoundToWhole;
  const double r = ((x - n * kHigh) - n * kMiddle) - n * kLow, square = r * r;
  constexpr double kSine[] = {2.72498952306116781e-6, -1.98400864995935981e-4,
                              8.33333187427371367e-3, -0.16666666663854167};
  constexpr double kCosine[] = {-2.73009336872129431e-7, 2.48006001803638087e-5,
                                -1.38888876716525039e-3, 0.0416666666643202666};
  return {r + r * square * Polynomial(square, kSine),
          1 - square * 0.5 + square * square * Polynomial(square, kCosine),
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
