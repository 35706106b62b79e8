// SPDX-License-Identifier: Apache-2.0
// The formulas of the elementwise operators. a, b, c are the inputs in the API's order, s the
// scalars.
#include <algorithm>
#include <cmath>
#include <limits>

#include "supporting/elementwise/expressions.h"
#include "supporting/elementwise/powers-inl.h"
#include "supporting/formula-inl.h"

namespace openaclnn::supporting::OPENACLNN_TARGET {

using formula::Acos;
using formula::Acosh;
using formula::Any;
using formula::Asin;
using formula::Asinh;
using formula::Atan;
using formula::Atan2;
using formula::Atanh;
using formula::Copying;
using formula::Cosh;
using formula::Costly;
using formula::Divided;
using formula::Erf;
using formula::Erfc;
using formula::Exp;
using formula::Exp2;
using formula::Expm1;
using formula::Integer;
using formula::IsInf;
using formula::Log;
using formula::Log10;
using formula::Log1p;
using formula::Log2;
using formula::LoopOfExponent;
using formula::Max;
using formula::Min;
using formula::Minus;
using formula::NearCos;
using formula::NearSin;
using formula::NearTan;
using formula::OfAngle;
using formula::OfPairs;
using formula::OfPowers;
using formula::OfTruths;
using formula::OfUnsigned;
using formula::Plus;
using formula::Power;
using formula::Real;
using formula::RealOfPairs;
using formula::Sinh;
using formula::Times;
using formula::With;
using formula::WithAbsent;
using formula::WithTypeOfTensors;

namespace {

template <class T>
T Lerp(T a, T b, T weight) {
  return std::abs(weight) < T(0.5) ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}

template <class T>
bool IsClose(T a, T b, const T* s) {
  if (a == b || (s[2] != 0 && IsNan(a) && IsNan(b))) return true;
  const T difference = a > b ? a - b : b - a;
  return !IsNan(difference) && !IsInf(difference) && difference <= s[1] + s[0] * (b < 0 ? -b : b);
}

/// The remainder has the sign of the divisor. An integer divided by 0 is 0: the device has no trap.
template <class RestOf, class T>
T Remainder([[maybe_unused]] const RestOf& rest_of, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == -1) return 0;
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    const T rest = rest_of(a, b), other = rest + b;
    return (rest != 0) & ((rest < 0) != (b < 0)) ? other : rest;
  }
}

template <class RestOf, class T>
T FloorDivide([[maybe_unused]] const RestOf& rest_of, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if (b == -1) return Minus(T{0}, a);
    const T rest = a % b;
    return a / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
  } else {
    const T rest = rest_of(a, b);
    // Whole but for a rounding, which is undone: to add a half and round down would not do where
    // the type has no halves any more.
    const bool down = (rest != 0) & ((rest < 0) != (b < 0));
    const T quotient = (a - rest) / b - (down ? T{1} : T{0});
    const T below = std::floor(quotient);
    const T whole = ((quotient - below > T(0.5)) ? below + 1 : below) + T{0};
    return b == 0 ? a / b : whole;
  }
}

/// The remainder has the sign of the dividend.
template <class RestOf, class T>
T TruncatedRemainder([[maybe_unused]] const RestOf& rest_of, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return b == 0 || b == -1 ? 0 : a % b;
  } else {
    return rest_of(a, b);
  }
}

template <class T>
T TruncatedDivision(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    return b == -1 ? Minus(T{0}, a) : a / b;
  } else {
    return std::trunc(a / b);
  }
}

template <class T>
T XLogY(T a, T b) {
  return IsNan(b) ? b : a == 0 ? T{0} : a * Log(b);
}

template <class T>
T LogAddExp(T a, T b) {
  if (IsInf(a) && a == b) return a;
  return Max(a, b) + Log1p(Exp(-std::abs(a - b)));
}

/// Bits pushed out are lost, whatever the distance.
template <class T>
T LeftShift(T a, T b) {
  return b < 0 || b > 63 ? T{0} : static_cast<T>(static_cast<uint64_t>(a) << b);
}

/// Takes magnitudes, which uint64_t holds.
template <class T>
T Gcd(T a, T b) {
  uint64_t x = a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? uint64_t{0} - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  while (y != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return static_cast<T>(x);
}

template <class T>
T RightShift(T a, T b) {
  return b < 0 || b > 63 ? (a < 0 ? T{-1} : T{0}) : a >> b;
}

template <class T>
bool IsNegative(T a) {
  if constexpr (std::is_integral_v<T>) {
    return a < 0;
  } else {
    return std::signbit(a);
  }
}

/// From a rational start (Giles, "Approximating the erfinv function", 2010), Newton's steps to the
/// last bit of double.
double InverseErf(double a) {
  if (std::isnan(a) || std::abs(a) > 1) return std::numeric_limits<double>::quiet_NaN();
  if (std::abs(a) == 1) return std::copysign(std::numeric_limits<double>::infinity(), a);
  const double w = -std::log((1 - a) * (1 + a));
  double x = std::copysign(w < 5 ? 0.88622692545 * std::abs(a) * (1 + 0.1307 * w)
                                 : std::sqrt(std::max(w - 0.5 * std::log(M_PI * w), 0.0)),
                           a);
  for (int step = 0; step < 60; ++step) {
    const double slope = M_2_SQRTPI * std::exp(-x * x);
    // Near 1 the difference of complements keeps the digits that erf has lost.
    const double off = x > 0.5    ? (1 - a) - std::erfc(x)
                       : x < -0.5 ? std::erfc(-x) - (1 + a)
                                  : std::erf(x) - a;
    const double move = off / slope;
    x -= move / (1 + x * move);
    if (std::abs(move) <= 1e-16 * std::abs(x)) break;
  }
  return x;
}
using openaclnn::OPENACLNN_TARGET::InverseErf;

/// The bits of UINT64 in a number of the integer domain; other numbers are what they are.
template <class T>
auto Unsigned(T a) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(a);
  } else {
    return a;
  }
}

constexpr Expression kUnsignedSignbit = Any<1, [](auto, auto) { return false; }>(true);
constexpr Expression kUnsignedLt =
    Any<2, [](auto a, auto b, auto) { return Unsigned(a) < Unsigned(b); }>(true);
constexpr Expression kUnsignedGtScalar =
    Any<1, [](auto a, auto s) { return (Unsigned(a) > Unsigned(s[0])); }>(true);
constexpr Expression kUnsignedGeScalar =
    Any<1, [](auto a, auto s) { return Unsigned(a) >= Unsigned(s[0]); }>(true);

/// round(a); an integer is whole already.
template <class T, class Round>
T Whole(T a, const Round& round) {
  if constexpr (std::is_integral_v<T>) {
    return a;
  } else {
    return round(a);
  }
}

}  // namespace

namespace expressions {

// No input.
const Expression kFill = OfPairs(pairs::kScalar, Any<0, [](auto s) { return s[0]; }>(true));
const Expression kZero = Any<0, [](auto s) { return std::remove_cvref_t<decltype(*s)>{0}; }>(true);
const Expression kOne = Any<0, [](auto s) { return std::remove_cvref_t<decltype(*s)>{1}; }>(true);

// One input.
const Expression kCopy =
    OfPairs(pairs::kFirst, Copying(Any<1, [](auto a, auto) { return a; }>(true)));
const Expression kAbs = RealOfPairs(
    pairs::kAbs, Any<1, [](auto a, auto) { return a < 0 ? Minus(decltype(a){0}, a) : a + 0; }>());
const Expression kNeg =
    OfPairs(pairs::kNeg, Any<1, [](auto a, auto) { return Times(a, decltype(a){-1}); }>());
const Expression kAngle =
    RealOfPairs(pairs::kAngle, Real<1, [](auto a, auto) {
                  return IsNan(a) ? a : a < 0 ? static_cast<decltype(a)>(M_PI) : 0;
                }>());
const Expression kSign =
    OfPairs(pairs::kSign, Any<1, [](auto a, auto) { return IsNan(a) ? a : (a > 0) - (a < 0); }>());
const Expression kCeil = Real<1, [](auto a, auto) { return std::ceil(a); }>();
const Expression kFloor =
    Any<1, [](auto a, auto) { return Whole(a, [](auto r) { return std::floor(r); }); }>();
const Expression kRound =
    Any<1, [](auto a, auto) { return Whole(a, [](auto r) { return std::nearbyint(r); }); }>();
const Expression kTrunc = Real<1, [](auto a, auto) { return std::trunc(a); }>();
const Expression kSqrt =
    OfPairs(pairs::kSqrt, Real<1, [](auto a, auto) { return std::sqrt(a); }>());
const Expression kRsqrt =
    OfPairs(pairs::kRsqrt, Real<1, [](auto a, auto) { return 1 / std::sqrt(a); }>());
const Expression kReciprocal =
    OfPairs(pairs::kReciprocal, Real<1, [](auto a, auto) { return 1 / a; }>());
const Expression kExp = OfPairs(pairs::kExp, Real<1, [](auto a, auto) { return Exp(a); }>());
const Expression kExpm1 = Costly(Real<1, [](auto a, auto) { return Expm1(a); }>());
const Expression kLog =
    OfPairs(pairs::kLog, Costly(Real<1, [](auto a, auto) { return Log(a); }>()));
const Expression kLog1p = Costly(Real<1, [](auto a, auto) { return Log1p(a); }>());
const Expression kSin =
    OfPairs(pairs::kSin, Costly(OfAngle<NearSin, [](double a) { return std::sin(a); }>()));
const Expression kCos =
    OfPairs(pairs::kCos, Costly(OfAngle<NearCos, [](double a) { return std::cos(a); }>()));
const Expression kErf = Costly(Real<1, [](auto a, auto) { return Erf(a); }>());
const Expression kTan =
    OfPairs(pairs::kTan, Costly(OfAngle<NearTan, [](double a) { return std::tan(a); }>()));
const Expression kAsin = Costly(Real<1, [](auto a, auto) { return Asin(a); }>());
const Expression kAcos = Costly(Real<1, [](auto a, auto) { return Acos(a); }>());
const Expression kAtan = Costly(Real<1, [](auto a, auto) { return Atan(a); }>());
const Expression kSinh =
    OfPairs(pairs::kSinh, Costly(Real<1, [](auto a, auto) { return Sinh(a); }>()));
const Expression kCosh =
    OfPairs(pairs::kCosh, Costly(Real<1, [](auto a, auto) { return Cosh(a); }>()));
const Expression kAsinh =
    OfPairs(pairs::kAsinh, Costly(Real<1, [](auto a, auto) { return Asinh(a); }>()));
const Expression kAcosh =
    OfPairs(pairs::kAcosh, Costly(Real<1, [](auto a, auto) { return Acosh(a); }>()));
const Expression kAtanh =
    OfPairs(pairs::kAtanh, Costly(Real<1, [](auto a, auto) { return Atanh(a); }>()));
const Expression kExp2 = Costly(Real<1, [](auto a, auto) { return Exp2(a); }>());
const Expression kLog2 =
    OfPairs(pairs::kLog2, Costly(Real<1, [](auto a, auto) { return Log2(a); }>()));
const Expression kLog10 =
    OfPairs(pairs::kLog10, Costly(Real<1, [](auto a, auto) { return Log10(a); }>()));
const Expression kErfc = Costly(Real<1, [](auto a, auto) { return Erfc(a); }>());
const Expression kErfinv = Costly(Real<1, [](auto a, auto) { return InverseErf(a); }>());
const Expression kFrac = Real<1, [](auto a, auto) { return a - std::trunc(a); }>();
const Expression kSinc = Costly(Real<1, [](auto a, auto) {
  using T = decltype(a);
  return a == 0 ? T{1} : std::sin(T(M_PI) * a) / (T(M_PI) * a);
}>());
// s: a power of ten.
const Expression kRoundDecimals =
    Real<1, [](auto a, auto s) { return std::nearbyint(a * s[0]) / s[0]; }>();
// s: what stands for NaN, infinity and -infinity.
const Expression kNanToNum = WithTypeOfTensors(Any<1, [](auto a, auto s) {
  return IsNan(a) ? s[0] : !IsInf(a) ? a : (a > 0) ? s[1] : s[2];
}>());
const Expression kSignbit =
    OfUnsigned(Any<1, [](auto a, auto) { return IsNegative(a); }>(true), &kUnsignedSignbit);
const Expression kIsFinite = Any<1, [](auto a, auto) { return !IsNan(a) && !IsInf(a); }>(true);
const Expression kIsInf =
    OfPairs(pairs::kIsInf, Any<1, [](auto a, auto) { return IsInf(a); }>(true));
const Expression kIsNegInf = Any<1, [](auto a, auto) { return IsInf(a) && a < 0; }>(true);
const Expression kIsPosInf = Any<1, [](auto a, auto) { return IsInf(a) && (a > 0); }>(true);
const Expression kLogicalNot = Any<1, [](auto a, auto) { return a == 0; }>(true);
// The complement of a truth value is a truth value.
const Expression kBitwiseNot =
    OfTruths(Integer<1, [](auto a, auto) { return ~a; }>(), &kLogicalNot);

// Two inputs, or one and a scalar.
const Expression kAdd =
    OfPairs(pairs::kAdd, Any<2, [](auto a, auto b, auto s) { return Plus(a, Times(s[0], b)); }>());
const Expression kAddScalar =
    OfPairs(pairs::kAddScalar, Any<1, [](auto a, auto s) { return Plus(a, Times(s[1], s[0])); }>());
const Expression kSub =
    OfPairs(pairs::kSub, Any<2, [](auto a, auto b, auto s) { return Minus(a, Times(s[0], b)); }>());
const Expression kSubScalar = OfPairs(
    pairs::kSubScalar, Any<1, [](auto a, auto s) { return Minus(a, Times(s[1], s[0])); }>());
const Expression kSumWithScalar = Any<1, [](auto a, auto s) { return Plus(a, s[0]); }>();
const Expression kDifferenceFromScalar = Any<1, [](auto a, auto s) { return Minus(a, s[0]); }>();
const Expression kRsub = OfPairs(
    pairs::kRsub, Any<2, [](auto a, auto b, auto s) { return Minus(b, Times(s[0], a)); }>());
const Expression kRsubScalar = OfPairs(
    pairs::kRsubScalar, Any<1, [](auto a, auto s) { return Minus(s[0], Times(s[1], a)); }>());
const Expression kSumOfScalar = OfPairs(
    pairs::kSumOfScalar, Any<1, [](auto a, auto s) { return Plus(s[0], Times(s[1], a)); }>());
const Expression kFloorDivide =
    Divided<2, [](auto rest, auto a, auto b, auto) { return FloorDivide(rest, a, b); }>();
const Expression kFloorDivideScalar =
    Divided<1, [](auto rest, auto a, auto s) { return FloorDivide(rest, a, s[0]); }>();
const Expression kRemainder =
    Divided<2, [](auto rest, auto a, auto b, auto) { return Remainder(rest, a, b); }>();
const Expression kRemainderScalar =
    Divided<1, [](auto rest, auto a, auto s) { return Remainder(rest, a, s[0]); }>();
const Expression kMul =
    OfPairs(pairs::kMul, Any<2, [](auto a, auto b, auto) { return Times(a, b); }>());
const Expression kMulScalar =
    OfPairs(pairs::kMulScalar, Any<1, [](auto a, auto s) { return Times(a, s[0]); }>());
const Expression kDiv = OfPairs(pairs::kDiv, Real<2, [](auto a, auto b, auto) { return a / b; }>());
const Expression kDivScalar =
    OfPairs(pairs::kDivScalar, Real<1, [](auto a, auto s) { return a / s[0]; }>());
const Expression kPow = OfPairs(
    pairs::kPow, OfPowers<2, [](auto power, auto a, auto b, auto) { return power(a, b); }>());
const Expression kPowScalar =
    OfPairs(pairs::kPowScalar,
            With(LoopOfExponent, Any<1, [](auto a, auto s) { return Power(a, s[0]); }>()));
const Expression kPowOfScalar =
    OfPairs(pairs::kPowOfScalar,
            Costly(OfPowers<1, [](auto power, auto a, auto s) { return power(s[0], a); }>()));
const Expression kMax = Any<2, [](auto a, auto b, auto) { return Max(a, b); }>();
const Expression kMaxScalar = Any<1, [](auto a, auto s) { return Max(a, s[0]); }>();
const Expression kMin = Any<2, [](auto a, auto b, auto) { return Min(a, b); }>();
const Expression kMinScalar = Any<1, [](auto a, auto s) { return Min(a, s[0]); }>();
// s: the bounds. Min of Max as comparisons that a NaN passes, of which vectors are made.
const Expression kClamp = WithAbsent(Any<1,
                                         [](auto a, auto s) {
                                           const auto low = a < s[0] ? s[0] : a;
                                           const auto within = (low > s[1]) ? s[1] : low;
                                           return IsNan(s[0]) ? s[0] : IsNan(s[1]) ? s[1] : within;
                                         }>(),
                                     {-INFINITY, INFINITY});
const Expression kClampTensor =
    Any<3, [](auto a, auto low, auto high, auto) { return Min(Max(a, low), high); }>();
const Expression kAtan2 = Real<2, [](auto a, auto b, auto) { return Atan2(a, b); }>();
const Expression kXLogY = Real<2, [](auto a, auto b, auto) { return XLogY(a, b); }>();
const Expression kXLogYScalar = Costly(Real<1, [](auto a, auto s) { return XLogY(a, s[0]); }>());
const Expression kXLogYOfScalar = Costly(Real<1, [](auto a, auto s) { return XLogY(s[0], a); }>());
const Expression kFmod =
    Divided<2, [](auto rest, auto a, auto b, auto) { return TruncatedRemainder(rest, a, b); }>();
const Expression kFmodScalar =
    Divided<1, [](auto rest, auto a, auto s) { return TruncatedRemainder(rest, a, s[0]); }>();
const Expression kRemainderOfScalar =
    Divided<1, [](auto rest, auto a, auto s) { return Remainder(rest, s[0], a); }>();
const Expression kTruncatedDivide =
    Any<2, [](auto a, auto b, auto) { return TruncatedDivision(a, b); }>();
const Expression kTruncatedDivideScalar =
    Any<1, [](auto a, auto s) { return TruncatedDivision(a, s[0]); }>();
const Expression kLogAddExp = Real<2, [](auto a, auto b, auto) { return LogAddExp(a, b); }>();
const Expression kLogAddExp2 = Real<2, [](auto a, auto b, auto) {
  using T = decltype(a);
  return LogAddExp(a * T(M_LN2), b * T(M_LN2)) / T(M_LN2);
}>();
const Expression kLeftShift = Integer<2, [](auto a, auto b, auto) { return LeftShift(a, b); }>();
const Expression kLeftShiftScalar = Integer<1, [](auto a, auto s) { return LeftShift(a, s[0]); }>();
const Expression kGcd = Integer<2, [](auto a, auto b, auto) { return Gcd(a, b); }>();
const Expression kRightShift = Integer<2, [](auto a, auto b, auto) { return RightShift(a, b); }>();
const Expression kEq =
    OfPairs(pairs::kEq, Any<2, [](auto a, auto b, auto) { return a == b; }>(true));
const Expression kEqScalar =
    OfPairs(pairs::kEqScalar, Any<1, [](auto a, auto s) { return a == s[0]; }>(true));
const Expression kNe =
    OfPairs(pairs::kNe, Any<2, [](auto a, auto b, auto) { return a != b; }>(true));
const Expression kNeScalar =
    OfPairs(pairs::kNeScalar, Any<1, [](auto a, auto s) { return a != s[0]; }>(true));
const Expression kGt = Any<2, [](auto a, auto b, auto) { return (a > b); }>(true);
const Expression kGtScalar =
    OfUnsigned(Any<1, [](auto a, auto s) { return (a > s[0]); }>(true), &kUnsignedGtScalar);
const Expression kGe = Any<2, [](auto a, auto b, auto) { return a >= b; }>(true);
const Expression kGeScalar =
    OfUnsigned(Any<1, [](auto a, auto s) { return a >= s[0]; }>(true), &kUnsignedGeScalar);
const Expression kLt =
    OfUnsigned(Any<2, [](auto a, auto b, auto) { return a < b; }>(true), &kUnsignedLt);
const Expression kLtScalar = Any<1, [](auto a, auto s) { return a < s[0]; }>(true);
const Expression kLe = Any<2, [](auto a, auto b, auto) { return a <= b; }>(true);
const Expression kLeScalar = Any<1, [](auto a, auto s) { return a <= s[0]; }>(true);
const Expression kLogicalAnd =
    OfPairs(pairs::kAnd, Any<2, [](auto a, auto b, auto) { return a != 0 && b != 0; }>(true));
const Expression kLogicalOr =
    OfPairs(pairs::kOr, Any<2, [](auto a, auto b, auto) { return a != 0 || b != 0; }>(true));
const Expression kLogicalXor =
    OfPairs(pairs::kXor, Any<2, [](auto a, auto b, auto) { return (a != 0) != (b != 0); }>(true));
// s: what is looked for, whether it is to differ.
const Expression kIsIn = Any<1, [](auto a, auto s) { return (a == s[0]) != (s[1] != 0); }>(true);
// s: rtol, atol, equal_nan.
const Expression kIsClose = Any<2, [](auto a, auto b, auto s) { return IsClose(a, b, s); }>(true);
const Expression kBitwiseAnd = Integer<2, [](auto a, auto b, auto) { return a & b; }>();
const Expression kBitwiseAndScalar = Integer<1, [](auto a, auto s) { return a & s[0]; }>();
const Expression kBitwiseOr = Integer<2, [](auto a, auto b, auto) { return a | b; }>();
const Expression kBitwiseOrScalar = Integer<1, [](auto a, auto s) { return a | s[0]; }>();
const Expression kBitwiseXor = Integer<2, [](auto a, auto b, auto) { return a ^ b; }>();
const Expression kBitwiseXorScalar = Integer<1, [](auto a, auto s) { return a ^ s[0]; }>();
const Expression kMaskedFill =
    OfPairs(pairs::kMaskedFill, Any<2, [](auto a, auto m, auto s) { return m != 0 ? s[0] : a; }>());

// Three inputs, or two and a scalar.
const Expression kMaskedScale = Real<2, [](auto a, auto m, auto s) { return a * m * s[0]; }>();
const Expression kWhere =
    OfPairs(pairs::kWhere, Any<3, [](auto c, auto a, auto b, auto) { return c != 0 ? a : b; }>());
const Expression kMaskedFillTensor =
    Any<3, [](auto a, auto m, auto b, auto) { return m != 0 ? b : a; }>();
const Expression kAddcmul = OfPairs(
    pairs::kAddcmul,
    Any<3, [](auto a, auto b, auto c, auto s) { return Plus(a, Times(Times(s[0], b), c)); }>());
const Expression kAddcdiv = OfPairs(
    pairs::kAddcdiv, Real<3, [](auto a, auto b, auto c, auto s) { return a + s[0] * b / c; }>());
const Expression kLerp = Real<2, [](auto a, auto b, auto s) { return Lerp(a, b, s[0]); }>();
const Expression kLerpTensor =
    Real<3, [](auto a, auto b, auto c, auto) { return Lerp(a, b, c); }>();

}  // namespace expressions
}  // namespace openaclnn::supporting::OPENACLNN_TARGET
