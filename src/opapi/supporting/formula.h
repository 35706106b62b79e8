// SPDX-License-Identifier: Apache-2.0
// How a formula becomes the loops of an expression, and what formulas are made of.
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "generated/expressions.h"
#include "supporting/elementwise.h"

namespace openaclnn::supporting::formula {

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

/// With another expression where the first input is of truth values.
constexpr Expression OfTruths(Expression expression, const Expression* of_truths) {
  expression.of_truths = of_truths;
  return expression;
}

/// Whose result is its input: between equal types it is moved as it is.
constexpr Expression Copying(Expression expression) {
  expression.copies = true;
  return expression;
}

/// With what stands for scalars that are left out.
constexpr Expression WithAbsent(Expression expression, std::array<double, 2> absent) {
  expression.absent = absent;
  return expression;
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

}  // namespace openaclnn::supporting::formula
