// SPDX-License-Identifier: Apache-2.0
// More functions of a float, as those of float_math-inl.h are: tangents, hyperbolic functions,
// inverses of those and of the sine, 2^x, x^y and what has to do with erf.
//
// All are computed in double and rounded once, within 0.51 units in the last place. Nothing here
// branches or calls libm.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/simd/double_math-inl.h"
#include "kernels/simd/float_math-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

inline constexpr double kPi = 3.1415926535897932;

/// Polynomial of more terms: a loop inside keeps others from becoming vectors, with which erfc
/// takes a fourth of the time.
template <int kTerms>
inline double LongPolynomial(double x, const double (&c)[kTerms]) {
  double sum = c[0];
#pragma GCC unroll 16
  for (int i = 1; i < kTerms; ++i) sum = MulAdd(sum, x, c[i]);
  return sum;
}

/// For |x| up to kFarthestAngle.
inline float NearTan(float x) {
  const Angle angle = AngleOf(x);
  const bool odd = (angle.quarter & 1) != 0;
  const double over = odd ? -angle.cosine : angle.sine, under = odd ? angle.sine : angle.cosine;
  return x == 0 ? x : static_cast<float>(over / under);  // which has the sign of x
}

/// e^|x| - 1
inline double GrowthOf(float x) {
  const Exponential e = ExponentialOf(Within(0, std::fabs(static_cast<double>(x)), 100));
  return MulAdd(e.power, e.rest, e.power - 1);
}

inline float Sinh(float x) {
  const double d = GrowthOf(x);
  return static_cast<float>(std::copysign((d + d / (d + 1)) * 0.5, static_cast<double>(x)));
}

inline float Cosh(float x) {
  const double power = GrowthOf(x) + 1;
  return static_cast<float>((power + 1 / power) * 0.5);
}

inline float Exp2(float x) {
  const Exponential e = ExponentialOf(Within(-160, x, 130) * 0.69314718055994531);
  return static_cast<float>(MulAdd(e.power, e.rest, e.power));
}

/// ln(1 + d) for d of full precision.
inline float LogarithmOfGrowth(double d) {
  const double small = d * MulAdd(-d, MulAdd(d, -1.0 / 3, 0.5), 1.0);
  return LogarithmOrEdge(1 + d, std::fabs(d) < 0x1p-12 ? small : Logarithm(1 + d));
}

inline float Asinh(float x) {
  const double a = std::fabs(static_cast<double>(x)), square = a * a;
  const float found = LogarithmOfGrowth(a + square / (1 + std::sqrt(1 + square)));
  const float result = a == std::numeric_limits<double>::infinity() ? static_cast<float>(a) : found;
  return std::copysign(result, x);
}

inline float Acosh(float x) {
  const double a = x, more = a - 1;
  const float found = LogarithmOfGrowth(more + std::sqrt(more * (a + 1)));
  return more >= 0 ? found : std::numeric_limits<float>::quiet_NaN();
}

/// artanh x = x (1 + x^2 (...)) for small x, which is the series of the logarithm.
inline float Atanh(float x) {
  constexpr double kSeries[] = {0.116654820258860201, 0.142754012766383551, 0.200000610004084404,
                                0.333333332771500901};
  constexpr double kSmall = 0.17;  // where the logarithm's series ends
  const double a = x, square = a * a;
  const double small = MulAdd(a * square, Polynomial(square, kSeries), a);
  const double ratio = (1 + a) / (1 - a);
  return LogarithmOrEdge(ratio, std::fabs(a) < kSmall ? small : 0.5 * Logarithm(ratio));
}

/// The arc of over / under, neither of which is negative.
///
/// Up to tan(pi / 8) it is t (1 + t^2 (...)), within 2^-34; else that of
/// (over - under) / (over + under) beyond pi / 4, or of -under / over beyond pi / 2.
inline double ArcOf(double over, double under) {
  constexpr double kLow = 0.41421356237309503, kHigh = 2.4142135623730950;
  constexpr double kSeries[] = {-0.04043033696147107, 0.07135234647464041,  -0.09028967562110418,
                                0.11107493853432703,  -0.14285612465275252, 0.19999998916690562,
                                -0.33333333331439496};
  const bool small = over <= kLow * under, large = over > kHigh * under;
  double first = small ? over : over - under, second = small ? under : over + under;
  first = large ? -under : first;
  second = large ? over : second;
  const double begin = small ? 0.0 : kPi / 4, t = first / second, square = t * t;
  return (large ? kPi / 2 : begin) + MulAdd(t * square, Polynomial(square, kSeries), t);
}

inline float Atan(float x) {
  const double a = std::fabs(static_cast<double>(x));
  const double found = ArcOf(a < 0x1p100 ? a : 0x1p100, 1);
  return std::copysign(static_cast<float>(x == x ? found : a), x);
}

/// The angle of (b, a).
inline float Atan2(float a, float b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double over = std::fabs(static_cast<double>(a)), under = std::fabs(static_cast<double>(b));
  const bool is_nan = over != over || under != under;  // NOLINT(misc-redundant-expression)
  // An infinity is 1 and what is finite beside it 0; of zeros the second counts.
  const bool up = over == kInfinity, along = under == kInfinity, none = over + under == 0;
  over = up ? 1.0 : along ? 0.0 : over;
  under = along || none ? 1.0 : up ? 0.0 : under;
  const double arc = ArcOf(over, under),
               result = std::copysign(1.0, static_cast<double>(b)) < 0 ? kPi - arc : arc;
  return std::copysign(static_cast<float>(is_nan ? kInfinity - kInfinity : result), a);
}

/// arcsin x = x (1 + x^2 (...)) up to 1/2, within 2^-33.
inline double ArcOfSine(double x) {
  constexpr double kSeries[] = {0.02930523970533579,  0.0054431851027481075, 0.019306260869368045,
                                0.022132443623426794, 0.030397634130580702,  0.044642358484883196,
                                0.07500000598829049,  0.16666666665495086};
  const double square = x * x;
  return MulAdd(x * square, Polynomial(square, kSeries), x);
}

/// The angle at which |x| is the cosine, from 1/2 on: twice that with the sine
/// sqrt((1 - |x|) / 2). Beyond 1 it is NaN.
inline double NearArcOfCosine(double size) { return 2 * ArcOfSine(std::sqrt((1 - size) * 0.5)); }

inline float Asin(float x) {
  const double a = std::fabs(static_cast<double>(x));
  const double result = a <= 0.5 ? ArcOfSine(a) : kPi / 2 - NearArcOfCosine(a);
  return std::copysign(static_cast<float>(result), x);
}

inline float Acos(float x) {
  const double a = x, size = std::fabs(a), near = NearArcOfCosine(size);
  const double far = a < 0 ? kPi - near : near;
  return static_cast<float>(size <= 0.5 ? kPi / 2 - ArcOfSine(a) : far);
}

/// erfc(x) = e^(-x^2) p(s), s = (x - 3) / (x + 3), for x in [0, 10.3], within 2^-32; beyond that
/// it is 0, as from 10.06 on no float is so small.
inline double NearErfc(double x) {
  constexpr double kSeries[] = {
      -6.356205263957701e-06, -8.73293007448416e-06, 6.424277563168289e-05, 4.265222694905167e-05,
      -0.0005976871993897533, 0.0007084867725985173, 0.0042693491377532936, -0.024392602549221005,
      0.07166581091316887,    -0.1501159299500154,   0.24560380278531985,   -0.3262335601727764,
      0.17900115117491783};
  const double a = Within(0, std::fabs(x), 10.3);
  const double s = (a - 3) / (a + 3);
  const Exponential e = ExponentialOf(-a * a);
  const double near = MulAdd(e.power, e.rest, e.power) * LongPolynomial(s, kSeries);
  const double result = std::fabs(x) > 10.3 ? 0 : near;
  return x < 0 ? 2 - result : result;
}

inline float Erfc(float x) { return static_cast<float>(NearErfc(x)); }

/// The x with erf(x) = a: a p(w), w = -ln(1 - a^2), up to w = 6.25, and else a p(sqrt(w)), within
/// 2^-32. The last float before 1 has a w of 15.9.
inline float InverseErf(float x) {
  constexpr double kNear[] = {
      7.131112821605783e-14,  -1.8346252164311612e-12, -3.660716349173762e-12,
      7.073016536655873e-10,  -1.1685309810037704e-08, 8.814705567680175e-08,
      -2.576021121296213e-07, -5.081409796314951e-07,  1.2279576727819036e-06,
      4.744967894165184e-05,  -0.0001286163633210803,  -0.002334867219413786,
      0.011549292029591419,   0.23201367073290993,     0.8862269253944154};
  constexpr double kFar[] = {8.473825919288198e-06,  -4.074746989299646e-05,  6.836332867465483e-05,
                             1.9931718830342265e-05, -0.00035393558175979273, 0.0009543655257494498,
                             -0.0016886904711437133, 0.0024913257247774303,   -0.003751157757349887,
                             0.005370918411677225,   1.0052589660817575,      3.083885610481426};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double a = x, rest = (1 - a) * (1 + a);
  const double w = -Logarithm(rest > 0x1p-30 ? rest : 0x1p-30);
  const double near = LongPolynomial(w, kNear), far = LongPolynomial(std::sqrt(w) - 3.25, kFar);
  const double factor = w < 6.25 ? near : far;
  const double inside = rest == 0 ? a * kInfinity : a * factor;
  return static_cast<float>(rest >= 0 ? inside : std::numeric_limits<double>::quiet_NaN());
}

/// a^b for finite numbers, of which a is positive, or 2; NaN for others.
inline float NearPower(float a, float b) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool known = a > 0 && a < kInfinity && std::fabs(b) < kInfinity;
  const double power = Exp(static_cast<double>(b) * LogarithmAnd(known ? a : 1.0f, 0));
  return known ? static_cast<float>(power) : std::numeric_limits<float>::quiet_NaN();
}

/// The rest of a division of a by b, with the sign of a; NaN if the rest cannot be told. Quotients
/// of floats up to 2^29 have their whole part in double, and the rest is a float.
inline float NearRest(float a, float b) {
  constexpr double kMost = 0x1p29;
  const double quotient = static_cast<double>(a) / static_cast<double>(b);
  const double rest = MulAdd(-std::trunc(quotient), static_cast<double>(b), static_cast<double>(a));
  const float signed_rest = std::copysign(static_cast<float>(rest), a);
  return std::fabs(quotient) < kMost ? signed_rest : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
