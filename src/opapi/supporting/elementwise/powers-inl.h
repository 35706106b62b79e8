// SPDX-License-Identifier: Apache-2.0
// Powers, and what divisions leave: of floats in vectors where the result is known, else by libm.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "supporting/formula-inl.h"

namespace openaclnn::supporting::OPENACLNN_TARGET::formula {

/// Integers raised by squaring; a negative exponent leaves 1, -1 or 0.
template <class T>
T Power(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == 2) return a * a;
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    // libm takes its time for what is no number.
    const bool none = a < 0 && a > -kInfinity && std::trunc(b) != b;
    return none ? std::numeric_limits<T>::quiet_NaN() : std::pow(a, b);
  } else {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    uint64_t base = static_cast<uint64_t>(a), result = 1;
    for (; b > 0; b >>= 1, base *= base) {
      if ((b & 1) != 0) result *= base;
    }
    return static_cast<T>(result);
  }
}

struct AnyPower {
  template <class T>
  T operator()(T a, T b) const {
    return Power(a, b);
  }
};
struct KnownPower {
  float operator()(float a, float b) const {
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    const float square = a * a, found = NearPower(std::fabs(a), b);
    const bool is_whole = std::trunc(b) == b, is_odd = std::trunc(b * 0.5F) != b * 0.5F;
    const float negative = is_whole ? (is_odd ? -found : found) : kNone;
    const float power = a < 0 ? negative : found;
    return b == 2 ? square : power;  // the square has one rounding
  }
};

/// Makes an expression of kFunction(power, …), where power(a, b) is a^b.
template <int kInputs, auto kFunction>
constexpr Expression OfPowers() {
  constexpr auto any = [](auto... each) { return kFunction(AnyPower(), each...); };
  return OfKnown<kInputs, [](auto... each) { return kFunction(KnownPower(), each...); }, any>(
      Any<kInputs, any>());
}

// Powers of a float, made in double. Roots are those of numbers without a sign: that of -0 is 0,
// and that of -infinity infinity.
inline double InverseSquareOf(double a) { return 1 / (a * a); }
inline double InverseOf(double a) { return 1 / a; }
inline double RootOf(double a) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return std::sqrt(a == -kInfinity ? kInfinity : a + 0.0);
}
inline double InverseRootOf(double a) { return 1 / RootOf(a); }
inline double RootOfCube(double a) { return std::fabs(a) * RootOf(a); }
inline double SameOf(double a) { return a; }
inline double SquareOf(double a) { return a * a; }
inline double CubeOf(double a) { return a * a * a; }
inline double SquareOfSquare(double a) { return (a * a) * (a * a); }

template <double (*kFunction)(double)>
void LoopOfPower(const float* const* in, const float* s, int64_t n, float* out) {
  LoopOf<1, [](double a, auto) { return kFunction(a); }, float>(in, s, n, out);
}

/// The loop for an exponent that is not whole: powers of negative numbers do not exist, so no
/// parity is looked up.
inline void LoopOfFraction(const float* const* in, const float* s, int64_t n, float* out) {
  constexpr int64_t kBlock = 512;
  constexpr auto near = [](float a, auto of) { return NearPower(a, of[0]); };
  constexpr auto any = [](float a, auto of) { return Power(a, of[0]); };
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    const float* const at = *in + begin;
    bool plain = true;
    for (int64_t i = 0; i < count; ++i) {
      plain &= (std::fabs(at[i]) > 0) & (std::fabs(at[i]) < std::numeric_limits<float>::infinity());
    }
    plain ? LoopOf<1, near, float>(&at, s, count, out + begin)
          : LoopOfKnown<1, near, any>(&at, s, count, out + begin);
  }
}

/// The loop of an exponent that products and roots serve, or that of all.
inline void LoopOfExponent(const float* const* in, const float* s, int64_t n, float* out) {
  const float b = *s;
  if (b == -2) return LoopOfPower<InverseSquareOf>(in, s, n, out);
  if (b == -1) return LoopOfPower<InverseOf>(in, s, n, out);
  if (b == -0.5F) return LoopOfPower<InverseRootOf>(in, s, n, out);
  if (b == 0.5F) return LoopOfPower<RootOf>(in, s, n, out);
  if (b == 1) return LoopOfPower<SameOf>(in, s, n, out);
  if (b == 1.5F) return LoopOfPower<RootOfCube>(in, s, n, out);
  if (b == 2) return LoopOfPower<SquareOf>(in, s, n, out);
  if (b == 3) return LoopOfPower<CubeOf>(in, s, n, out);
  if (b == 4) return LoopOfPower<SquareOfSquare>(in, s, n, out);
  // The sign of a base counts as the exponent says, once for all.
  constexpr auto any = [](float a, auto of) { return Power(a, of[0]); };
  if (std::trunc(b) != b && std::fabs(b) < std::numeric_limits<float>::infinity()) {
    LoopOfFraction(in, s, n, out);
  } else if (std::trunc(b * 0.5F) != b * 0.5F) {
    LoopOfKnown<
        1, [](float a, auto of) { return std::copysign(NearPower(std::fabs(a), of[0]), a); }, any>(
        in, s, n, out);
  } else {
    LoopOfKnown<1, [](float a, auto of) { return NearPower(std::fabs(a), of[0]); }, any>(in, s, n,
                                                                                         out);
  }
}

/// Gives an expression another loop over floats.
constexpr Expression With(Expression::Loop<float> loop, Expression expression) {
  expression.float32 = loop;
  return expression;
}

/// The rest of a division of floats, with the sign of the dividend.
struct Rest {
  template <class T>
  T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
};
struct KnownRest {
  float operator()(float a, float b) const { return NearRest(a, b); }
};

/// Makes an expression of kFunction(rest, …), where rest(a, b) is what a division leaves.
template <int kInputs, auto kFunction>
constexpr Expression Divided() {
  constexpr auto any = [](auto... each) { return kFunction(Rest(), each...); };
  return OfKnown<kInputs, [](auto... each) { return kFunction(KnownRest(), each...); }, any>(
      Any<kInputs, any>());
}

}  // namespace openaclnn::supporting::OPENACLNN_TARGET::formula
