// SPDX-License-Identifier: Apache-2.0
// The formulas of the elementwise operators. a, b, c are the inputs in the API's order, s the
// scalars.
#include <cmath>
#include <type_traits>
#include <utility>

#include "supporting/elementwise.h"

namespace openaclnn::supporting {
namespace {

template <auto kFunction, class T, size_t... kInput>
void Loop(const T* const* in, const T* s, int64_t n, T* out, std::index_sequence<kInput...>) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(kFunction(in[kInput][i]..., s));
}

template <int kInputs, auto kFunction, class T>
void LoopOf(const T* const* in, const T* s, int64_t n, T* out) {
  Loop<kFunction>(in, s, n, out, std::make_index_sequence<kInputs>());
}

/// In every domain; `any_out` for truth values and conversions.
template <int kInputs, auto kFunction>
constexpr Expression Any(bool any_out = false) {
  return {kInputs, any_out, LoopOf<kInputs, kFunction, float>, LoopOf<kInputs, kFunction, double>,
          LoopOf<kInputs, kFunction, int64_t>};
}

/// In floats alone.
template <int kInputs, auto kFunction>
constexpr Expression Real() {
  return {kInputs, false, LoopOf<kInputs, kFunction, float>, LoopOf<kInputs, kFunction, double>,
          nullptr};
}

/// In integers alone.
template <int kInputs, auto kFunction>
constexpr Expression Integer() {
  return {kInputs, true, nullptr, nullptr, LoopOf<kInputs, kFunction, int64_t>};
}

template <class T>
bool IsNan(T a) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isnan(a);
  }
}

template <class T>
bool IsInf(T a) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isinf(a);
  }
}

template <class T>
T Max(T a, T b) {
  return a > b || IsNan(a) ? a : b;
}

template <class T>
T Min(T a, T b) {
  return a < b || IsNan(a) ? a : b;
}

template <class T>
T Sigmoid(T a) {
  return 1 / (1 + std::exp(-a));
}

/// Integers raised by squaring; a negative exponent leaves 1, -1 or 0.
template <class T>
T Power(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    uint64_t base = static_cast<uint64_t>(a), result = 1;
    for (; b > 0; b >>= 1, base *= base) {
      if ((b & 1) != 0) result *= base;
    }
    return static_cast<T>(result);
  }
}

template <class T>
T Lerp(T a, T b, T weight) {
  return std::abs(weight) < T(0.5) ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}

template <class T>
T Gelu(T a) {
  return a * T(0.5) * (1 + std::erf(a * T(M_SQRT1_2)));
}

/// Its approximation by tanh.
template <class T>
T GeluTanh(T a) {
  const T inner = T(M_SQRT1_2 * M_2_SQRTPI) * (a + T(0.044715) * a * a * a);
  return a * T(0.5) * (1 + std::tanh(inner));
}

template <class T>
T GeluGradient(T g, T a) {
  const T density = std::exp(-a * a / 2) * T(M_2_SQRTPI * M_SQRT1_2 / 2);
  return g * (T(0.5) * (1 + std::erf(a * T(M_SQRT1_2))) + a * density);
}

template <class T>
bool IsClose(T a, T b, const T* s) {
  if (a == b || (s[2] != 0 && IsNan(a) && IsNan(b))) return true;
  const T difference = a > b ? a - b : b - a;
  return !IsNan(difference) && !IsInf(difference) && difference <= s[1] + s[0] * (b < 0 ? -b : b);
}

/// Integers wrap instead of overflowing.
template <class T>
T Times(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class T>
T Plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
T Minus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  } else {
    return a - b;
  }
}

/// The remainder has the sign of the divisor. An integer divided by 0 is 0: the device has no trap.
template <class T>
T Remainder(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == -1) return 0;
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    const T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

template <class T>
T FloorDivide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    return b == -1 ? Minus(T{0}, a) : (a - Remainder(a, b)) / b;
  } else {
    return b == 0 ? a / b : std::floor((a - Remainder(a, b)) / b + T(0.5));
  }
}

}  // namespace

namespace expressions {

// No input.
const Expression kFill = Any<0, [](auto s) { return s[0]; }>(true);
const Expression kZero = Any<0, [](auto s) { return std::remove_cvref_t<decltype(*s)>{0}; }>(true);
const Expression kOne = Any<0, [](auto s) { return std::remove_cvref_t<decltype(*s)>{1}; }>(true);

// One input.
const Expression kCopy = Any<1, [](auto a, auto) { return a; }>(true);
const Expression kAbs =
    Any<1, [](auto a, auto) { return a < 0 ? Minus(decltype(a){0}, a) : a + 0; }>();
const Expression kNeg = Any<1, [](auto a, auto) { return Times(a, decltype(a){-1}); }>();
const Expression kSign = Any<1, [](auto a, auto) { return IsNan(a) ? a : (a > 0) - (a < 0); }>();
const Expression kRelu = Any<1, [](auto a, auto) { return Max(a, decltype(a){0}); }>();
const Expression kCeil = Real<1, [](auto a, auto) { return std::ceil(a); }>();
const Expression kFloor = Real<1, [](auto a, auto) { return std::floor(a); }>();
const Expression kRound = Real<1, [](auto a, auto) { return std::nearbyint(a); }>();
const Expression kTrunc = Real<1, [](auto a, auto) { return std::trunc(a); }>();
const Expression kSqrt = Real<1, [](auto a, auto) { return std::sqrt(a); }>();
const Expression kRsqrt = Real<1, [](auto a, auto) { return 1 / std::sqrt(a); }>();
const Expression kReciprocal = Real<1, [](auto a, auto) { return 1 / a; }>();
const Expression kExp = Real<1, [](auto a, auto) { return std::exp(a); }>();
const Expression kExpm1 = Real<1, [](auto a, auto) { return std::expm1(a); }>();
const Expression kLog = Real<1, [](auto a, auto) { return std::log(a); }>();
const Expression kLog1p = Real<1, [](auto a, auto) { return std::log1p(a); }>();
const Expression kSin = Real<1, [](auto a, auto) { return std::sin(a); }>();
const Expression kCos = Real<1, [](auto a, auto) { return std::cos(a); }>();
const Expression kErf = Real<1, [](auto a, auto) { return std::erf(a); }>();
const Expression kTanh = Real<1, [](auto a, auto) { return std::tanh(a); }>();
const Expression kSigmoid = Real<1, [](auto a, auto) { return Sigmoid(a); }>();
const Expression kSilu = Real<1, [](auto a, auto) { return a * Sigmoid(a); }>();
const Expression kGelu = Real<1, [](auto a, auto) { return Gelu(a); }>();
// s: 1 for the approximation.
const Expression kGeluV2 =
    Real<1, [](auto a, auto s) { return s[0] == 1 ? GeluTanh(a) : Gelu(a); }>();
const Expression kIsFinite = Any<1, [](auto a, auto) { return !IsNan(a) && !IsInf(a); }>(true);
const Expression kIsInf = Any<1, [](auto a, auto) { return IsInf(a); }>(true);
const Expression kIsNegInf = Any<1, [](auto a, auto) { return IsInf(a) && a < 0; }>(true);
const Expression kIsPosInf = Any<1, [](auto a, auto) { return IsInf(a) && (a > 0); }>(true);
const Expression kLogicalNot = Any<1, [](auto a, auto) { return a == 0; }>(true);
const Expression kBitwiseNot = Integer<1, [](auto a, auto) { return ~a; }>();

// Two inputs, or one and a scalar.
const Expression kAdd = Any<2, [](auto a, auto b, auto s) { return Plus(a, Times(s[0], b)); }>();
const Expression kAddScalar = Any<1, [](auto a, auto s) { return Plus(a, Times(s[1], s[0])); }>();
const Expression kSub = Any<2, [](auto a, auto b, auto s) { return Minus(a, Times(s[0], b)); }>();
const Expression kSubScalar = Any<1, [](auto a, auto s) { return Minus(a, Times(s[1], s[0])); }>();
const Expression kSumWithScalar = Any<1, [](auto a, auto s) { return Plus(a, s[0]); }>();
const Expression kRsub = Any<2, [](auto a, auto b, auto s) { return Minus(b, Times(s[0], a)); }>();
const Expression kRsubScalar = Any<1, [](auto a, auto s) { return Minus(s[0], Times(s[1], a)); }>();
const Expression kFloorDivide = Any<2, [](auto a, auto b, auto) { return FloorDivide(a, b); }>();
const Expression kFloorDivideScalar = Any<1, [](auto a, auto s) { return FloorDivide(a, s[0]); }>();
const Expression kRemainder = Any<2, [](auto a, auto b, auto) { return Remainder(a, b); }>();
const Expression kRemainderScalar = Any<1, [](auto a, auto s) { return Remainder(a, s[0]); }>();
const Expression kMul = Any<2, [](auto a, auto b, auto) { return Times(a, b); }>();
const Expression kMulScalar = Any<1, [](auto a, auto s) { return Times(a, s[0]); }>();
const Expression kDiv = Real<2, [](auto a, auto b, auto) { return a / b; }>();
const Expression kDivScalar = Real<1, [](auto a, auto s) { return a / s[0]; }>();
const Expression kPow = Any<2, [](auto a, auto b, auto) { return Power(a, b); }>();
const Expression kPowScalar = Any<1, [](auto a, auto s) { return Power(a, s[0]); }>();
const Expression kPowOfScalar = Any<1, [](auto a, auto s) { return Power(s[0], a); }>();
const Expression kMax = Any<2, [](auto a, auto b, auto) { return Max(a, b); }>();
const Expression kMaxScalar = Any<1, [](auto a, auto s) { return Max(a, s[0]); }>();
const Expression kMin = Any<2, [](auto a, auto b, auto) { return Min(a, b); }>();
const Expression kMinScalar = Any<1, [](auto a, auto s) { return Min(a, s[0]); }>();
const Expression kClamp = Any<1, [](auto a, auto s) { return Min(Max(a, s[0]), s[1]); }>();
const Expression kEq = Any<2, [](auto a, auto b, auto) { return a == b; }>(true);
const Expression kEqScalar = Any<1, [](auto a, auto s) { return a == s[0]; }>(true);
const Expression kNe = Any<2, [](auto a, auto b, auto) { return a != b; }>(true);
const Expression kNeScalar = Any<1, [](auto a, auto s) { return a != s[0]; }>(true);
const Expression kGt = Any<2, [](auto a, auto b, auto) { return (a > b); }>(true);
const Expression kGtScalar = Any<1, [](auto a, auto s) { return (a > s[0]); }>(true);
const Expression kGe = Any<2, [](auto a, auto b, auto) { return a >= b; }>(true);
const Expression kGeScalar = Any<1, [](auto a, auto s) { return a >= s[0]; }>(true);
const Expression kLt = Any<2, [](auto a, auto b, auto) { return a < b; }>(true);
const Expression kLtScalar = Any<1, [](auto a, auto s) { return a < s[0]; }>(true);
const Expression kLe = Any<2, [](auto a, auto b, auto) { return a <= b; }>(true);
const Expression kLeScalar = Any<1, [](auto a, auto s) { return a <= s[0]; }>(true);
const Expression kLogicalAnd = Any<2, [](auto a, auto b, auto) { return a != 0 && b != 0; }>(true);
const Expression kLogicalOr = Any<2, [](auto a, auto b, auto) { return a != 0 || b != 0; }>(true);
const Expression kLogicalXor =
    Any<2, [](auto a, auto b, auto) { return (a != 0) != (b != 0); }>(true);
// s: rtol, atol, equal_nan.
const Expression kIsClose = Any<2, [](auto a, auto b, auto s) { return IsClose(a, b, s); }>(true);
const Expression kBitwiseAnd = Integer<2, [](auto a, auto b, auto) { return a & b; }>();
const Expression kBitwiseAndScalar = Integer<1, [](auto a, auto s) { return a & s[0]; }>();
const Expression kBitwiseOr = Integer<2, [](auto a, auto b, auto) { return a | b; }>();
const Expression kBitwiseOrScalar = Integer<1, [](auto a, auto s) { return a | s[0]; }>();
const Expression kBitwiseXor = Integer<2, [](auto a, auto b, auto) { return a ^ b; }>();
const Expression kBitwiseXorScalar = Integer<1, [](auto a, auto s) { return a ^ s[0]; }>();
const Expression kMaskedFill = Any<2, [](auto a, auto m, auto s) { return m != 0 ? s[0] : a; }>();

// Gradients: g of the output; a the output of sigmoid and tanh, the input of the others.
const Expression kSigmoidGradient = Real<2, [](auto g, auto a, auto) { return g * (1 - a) * a; }>();
const Expression kTanhGradient = Real<2, [](auto g, auto a, auto) { return g * (1 - a * a); }>();
const Expression kThresholdGradient =
    Any<2, [](auto g, auto a, auto s) { return a <= s[0] ? decltype(g){0} : g; }>();
const Expression kSiluGradient = Real<2, [](auto g, auto a, auto) {
  const auto sigmoid = Sigmoid(a);
  return g * sigmoid * (1 + a * (1 - sigmoid));
}>();
const Expression kGeluGradient = Real<2, [](auto g, auto a, auto) { return GeluGradient(g, a); }>();

// Three inputs, or two and a scalar.
const Expression kWhere = Any<3, [](auto c, auto a, auto b, auto) { return c != 0 ? a : b; }>();
const Expression kMaskedFillTensor =
    Any<3, [](auto a, auto m, auto b, auto) { return m != 0 ? b : a; }>();
const Expression kAddcmul =
    Any<3, [](auto a, auto b, auto c, auto s) { return Plus(a, Times(Times(s[0], b), c)); }>();
const Expression kAddcdiv =
    Real<3, [](auto a, auto b, auto c, auto s) { return a + s[0] * b / c; }>();
const Expression kLerp = Real<2, [](auto a, auto b, auto s) { return Lerp(a, b, s[0]); }>();
const Expression kLerpTensor =
    Real<3, [](auto a, auto b, auto c, auto) { return Lerp(a, b, c); }>();

}  // namespace expressions
}  // namespace openaclnn::supporting
