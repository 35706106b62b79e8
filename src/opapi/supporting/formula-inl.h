// SPDX-License-Identifier: Apache-2.0
// How a formula becomes the loops of an expression, and what formulas are made of.
//
// For files that are compiled once for each instruction set: the compiler makes vectors of the
// loops, wherever a formula calls no function of libm. Functions of a float are those of
// float_math-inl.h, and of a double, as far as they are there, of double_math-inl.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "generated/expressions.h"
#include "kernels/simd/double_math-inl.h"
#include "kernels/simd/float_inverses-inl.h"
#include "kernels/simd/float_math-inl.h"
#include "supporting/elementwise.h"

namespace openaclnn::supporting::OPENACLNN_TARGET::formula {

using openaclnn::OPENACLNN_TARGET::InverseIsExact;
using openaclnn::OPENACLNN_TARGET::kFarthestAngle;
using openaclnn::OPENACLNN_TARGET::NearCos;
using openaclnn::OPENACLNN_TARGET::NearPower;
using openaclnn::OPENACLNN_TARGET::NearRest;
using openaclnn::OPENACLNN_TARGET::NearSin;
using openaclnn::OPENACLNN_TARGET::NearTan;

/// A number as it is stored: each NaN is the canonical one.
template <class T>
T Result(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    return IsNan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
  }
}

/// A formula's result as it is stored. A truth value is chosen, not converted: compilers make no
/// vectors of that conversion, and comparisons took three times as long.
template <class T, class Value>
T Stored(Value value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return value ? T{1} : T{0};
  } else {
    return Result(static_cast<T>(value));
  }
}

// An input may be the very view that the output is, and nothing else overlaps: no iteration needs
// what another has written.
template <auto kFunction, class T, class... Inputs>
void LoopOver(const T* given, int64_t n, T* out, const Inputs*... in) {
  Scalars<T> scalars;
  for (size_t i = 0; i < scalars.size(); ++i) scalars[i] = given[i];
  const T* const s = scalars.data();
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = Stored<T>(kFunction(static_cast<T>(in[i])..., s));
}

template <auto kFunction, class T, class In, size_t... kInput>
void Loop(const In* const* in, const T* s, int64_t n, T* out, std::index_sequence<kInput...>) {
  LoopOver<kFunction>(s, n, out, in[kInput]...);
}

template <int kInputs, auto kFunction, class T, class In = T>
void LoopOf(const In* const* in, const T* s, int64_t n, T* out) {
  Loop<kFunction>(in, s, n, out, std::make_index_sequence<kInputs>());
}

/// Computes floats in double, divides the result by a number or multiplies it, and rounds once. The
/// last kAbsent inputs are 1.
template <auto kFunction, bool kDivides, class... Inputs, size_t... kAbsent>
void RoundOver(const double* given, double by, int64_t n, float* out,
               std::index_sequence<kAbsent...>, const Inputs*... in) {
  Scalars<double> scalars;
  for (size_t i = 0; i < scalars.size(); ++i) scalars[i] = given[i];
  const double* const s = scalars.data();
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const double value =
        kFunction(static_cast<double>(in[i])..., (static_cast<void>(kAbsent), 1.0)..., s);
    out[i] = Stored<float>(kDivides ? value / by : value * by);
  }
}

/// Divides results, by a multiplication where that has the bits of a division.
template <int kInputs, int kAbsent, auto kFunction>
void LoopOfRounding(const float* const* in, const double* s, double divisor, int64_t n,
                    float* out) {
  [&]<size_t... kInput>(std::index_sequence<kInput...>) {
    constexpr std::make_index_sequence<kAbsent> kOnes;
    if (InverseIsExact(divisor)) {
      RoundOver<kFunction, false>(s, 1 / divisor, n, out, kOnes, in[kInput]...);
    } else {
      RoundOver<kFunction, true>(s, divisor, n, out, kOnes, in[kInput]...);
    }
  }
  (std::make_index_sequence<kInputs - kAbsent>());
}

/// Angles that are far out, or no numbers, go through double one by one.
template <auto kNear, auto kFunction>
void LoopOfAngles(const float* const* in, const float* s, int64_t n, float* out) {
  bool near = true;
  for (int64_t i = 0; i < n; ++i) near &= std::abs(in[0][i]) <= kFarthestAngle;
  if (near) return LoopOf<1, [](float a, auto) { return kNear(a); }, float>(in, s, n, out);
  for (int64_t i = 0; i < n; ++i) {
    const float a = in[0][i];
    const bool far = std::abs(a) > kFarthestAngle;
    out[i] = Result(far ? static_cast<float>(kFunction(static_cast<double>(a))) : kNear(a));
  }
}

/// Floats that kNear knows the result for, and by kFunction the others, for which it gives NaN.
template <int kInputs, auto kNear, auto kFunction>
void LoopOfKnown(const float* const* in, const float* s, int64_t n, float* out) {
  constexpr int64_t kBlock = 512;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    [&]<size_t... kInput>(std::index_sequence<kInput...>) {
      const float* const at[] = {(in[kInput] + begin)...};
      float found[kBlock];
      LoopOf<kInputs, kNear, float>(at, s, count, found);
      bool known = true;
      for (int64_t i = 0; i < count; ++i) known &= !IsNan(found[i]);
      for (int64_t i = 0; !known && i < count; ++i) {
        if (IsNan(found[i])) found[i] = Stored<float>(kFunction(at[kInput][i]..., s));
      }
      std::copy_n(found, count, out + begin);
    }
    (std::make_index_sequence<kInputs>());
  }
}

/// Gives an expression another loop over floats: kNear, which becomes vectors, and kFunction where
/// that gives NaN.
template <int kInputs, auto kNear, auto kFunction>
constexpr Expression OfKnown(Expression expression) {
  expression.float32 = LoopOfKnown<kInputs, kNear, kFunction>;
  return expression;
}

/// Makes an expression with a loop in every domain; `any_out` for truth values and conversions.
template <int kInputs, auto kFunction>
constexpr Expression Any(bool any_out = false) {
  return {kInputs, any_out, LoopOf<kInputs, kFunction, float>, LoopOf<kInputs, kFunction, double>,
          LoopOf<kInputs, kFunction, int64_t>};
}

/// Makes an expression with loops over floats alone.
template <int kInputs, auto kFunction>
constexpr Expression Real() {
  return {kInputs, false, LoopOf<kInputs, kFunction, float>, LoopOf<kInputs, kFunction, double>,
          nullptr};
}

/// Makes an expression that computes floats in double too. The last kOptional inputs may be left
/// out, and are 1 then.
template <int kInputs, int kOptional, auto kFunction>
constexpr Expression Wide() {
  Expression expression = {kInputs, false, nullptr, LoopOf<kInputs, kFunction, double>, nullptr};
  expression.widened = LoopOf<kInputs, kFunction, double, float>;
  expression.rounded = LoopOfRounding<kInputs, 0, kFunction>;
  expression.plain = LoopOfRounding<kInputs, kOptional, kFunction>;
  expression.optional = kOptional;
  return expression;
}
template <int kInputs, auto kFunction>
constexpr Expression Wide() {
  return Wide<kInputs, 0, kFunction>();
}

/// Adds a loop over integers with a function of its own.
template <int kInputs, auto kFunction>
constexpr Expression OfIntegers(Expression expression) {
  expression.integer = LoopOf<kInputs, kFunction, int64_t>;
  return expression;
}

/// Makes an expression of an angle: kNear computes in float up to kFarthestAngle.
template <auto kNear, auto kFunction>
constexpr Expression OfAngle() {
  return {1, false, LoopOfAngles<kNear, kFunction>,
          LoopOf<1, [](double a, auto) { return kFunction(a); }, double>, nullptr};
}

/// Makes an expression with a loop over integers alone.
template <int kInputs, auto kFunction>
constexpr Expression Integer() {
  return {kInputs, true, nullptr, nullptr, LoopOf<kInputs, kFunction, int64_t>};
}

/// Adds the loop over complex numbers.
constexpr Expression OfPairs(const PairLoop& pairs, Expression expression) {
  expression.pairs = &pairs;
  return expression;
}
constexpr Expression RealOfPairs(const PairLoop& pairs, Expression expression) {
  expression.real_of_pairs = true;
  return OfPairs(pairs, expression);
}

/// Adds the expression that is used where the first input is BOOL.
constexpr Expression OfTruths(Expression expression, const Expression* of_truths) {
  expression.of_truths = of_truths;
  return expression;
}

/// Adds the expression that is used where the inputs are UINT64.
constexpr Expression OfUnsigned(Expression expression, const Expression* of_unsigned) {
  expression.of_unsigned = of_unsigned;
  return expression;
}

/// Says that the result is the input: between equal types its bits are moved.
constexpr Expression Copying(Expression expression) {
  expression.copies = true;
  return expression;
}

/// Says that a result costs more than a look into a table.
constexpr Expression Costly(Expression expression) {
  expression.costly = true;
  return expression;
}

/// Says that scalars do not make floats of integers.
constexpr Expression WithTypeOfTensors(Expression expression) {
  expression.scalars_meet = false;
  return expression;
}

/// Sets the values of scalars that are left out.
constexpr Expression WithAbsent(Expression expression, std::array<double, 2> absent) {
  expression.absent = absent;
  return expression;
}

// Functions of either float type.
using openaclnn::OPENACLNN_TARGET::Exp;
using openaclnn::OPENACLNN_TARGET::Log;
using openaclnn::OPENACLNN_TARGET::Log1p;
// Those of double are libm's.
#define OPENACLNN_FUNCTION(Name, name)     \
  using openaclnn::OPENACLNN_TARGET::Name; \
  inline double Name(double a) { return std::name(a); }
OPENACLNN_FUNCTION(Expm1, expm1)
OPENACLNN_FUNCTION(Log2, log2)
OPENACLNN_FUNCTION(Log10, log10)
OPENACLNN_FUNCTION(Tanh, tanh)
OPENACLNN_FUNCTION(Erf, erf)
OPENACLNN_FUNCTION(Asin, asin)
OPENACLNN_FUNCTION(Acos, acos)
OPENACLNN_FUNCTION(Atan, atan)
OPENACLNN_FUNCTION(Sinh, sinh)
OPENACLNN_FUNCTION(Cosh, cosh)
OPENACLNN_FUNCTION(Asinh, asinh)
OPENACLNN_FUNCTION(Acosh, acosh)
OPENACLNN_FUNCTION(Atanh, atanh)
OPENACLNN_FUNCTION(Exp2, exp2)
OPENACLNN_FUNCTION(Erfc, erfc)
#undef OPENACLNN_FUNCTION
using openaclnn::OPENACLNN_TARGET::Atan2;
inline double Atan2(double a, double b) { return std::atan2(a, b); }

template <class T>
T Sigmoid(T a) {
  return 1 / (1 + Exp(-a));
}

template <class T>
bool IsInf(T a) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isinf(a);
  }
}

// Two choices, of which vectors are made.
template <class T>
T Max(T a, T b) {
  const T larger = (a > b) ? a : b;
  return IsNan(a) ? a : larger;
}

template <class T>
T Min(T a, T b) {
  const T smaller = a < b ? a : b;
  return IsNan(a) ? a : smaller;
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

}  // namespace openaclnn::supporting::OPENACLNN_TARGET::formula
