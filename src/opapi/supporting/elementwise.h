// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: out = f(inputs, scalars), broadcast and with types promoted.
#pragma once

#include <array>

#include "kernels/broadcast.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// The scalars of a call; those that it does not have are 0.
template <class T>
using Scalars = std::array<T, 4>;

/// The loops of a function: out[i] = f(in[0][i], …, scalars) in each domain. Without a loop over
/// integers the function is computed in floats.
struct Expression {
  template <class T>
  using Loop = void (*)(const T* const* in, const T* scalars, int64_t n, T* out);  // of Scalars<T>
  using Rounding = void (*)(const float* const* in, const double* scalars, double divisor,
                            int64_t n, float* out);

  int inputs;
  bool any_out;  // the result fits any type: a truth value, or a conversion that was asked for
  Loop<float> float32;
  Loop<double> float64;
  Loop<int64_t> integer;
  bool copies = false;       // its result is its input
  bool scalars_meet = true;  // a scalar of a float type makes floats of integers
  bool costly = false;       // to look a result up costs less
  /// In place of this where the first input is of truth values.
  const Expression* of_truths = nullptr;
  /// What stands for scalars that are left out.
  std::array<double, 2> absent = {};
  /// Over floats, computed in double.
  void (*widened)(const float* const* in, const double* scalars, int64_t n, double* out) = nullptr;
  /// The same, divided and rounded once; `plain` where the last `optional` are left out.
  Rounding rounded = nullptr, plain = nullptr;
  size_t optional = 0;
};

/// Broadcasts *shape with a tensor's; a checker says which tensor does not fit.
void MeetShape(const Operand& tensor, Shape* shape, Checker* checker);

/// One application of a function: its tensors by their place in the call, and its scalars.
struct Application {
  const Expression* expression;
  ShortVector<size_t, 4> inputs;
  size_t out;
  ShortVector<Value, 4> values;
};

void CheckApplication(const Params& params, const Application& one, Checker& checker);
Plan PlanApplication(const Params& params, const Application& one);

/// Of a row with an expression.
void CheckElementwise(const Params& params, Checker& checker);
Plan PlanElementwise(const Params& params, const Product& product);

}  // namespace openaclnn::supporting
