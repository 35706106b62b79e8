// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: out = f(inputs, scalars), broadcast and with types promoted.
#pragma once

#include <array>
#include <optional>

#include "kernels/move/broadcast.h"
#include "supporting/family.h"
#include "supporting/pair_loops.h"

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
  /// In place of this where the inputs are UINT64, which the loop over integers has as int64_t.
  const Expression* of_unsigned = nullptr;
  /// The values of scalars that are left out.
  std::array<double, 2> absent = {};
  /// The loop over floats that computes in double.
  void (*widened)(const float* const* in, const double* scalars, int64_t n, double* out) = nullptr;
  /// The loop with a division before the one rounding; `plain` is for calls without the last
  /// `optional` inputs.
  Rounding rounded = nullptr, plain = nullptr;
  size_t optional = 0;
  /// The loop over complex numbers; null where these are refused.
  const PairLoop* pairs = nullptr;
  bool real_of_pairs = false;  // its result of complex numbers is a real one
};

/// Broadcasts *shape with a tensor's; a checker says which tensor does not fit.
void MeetShape(const Operand& tensor, Shape* shape, Checker* checker);

/// A scalar that is an element of a tensor, read when the work is done.
struct Element {
  size_t tensor;  // by its place in the call
  int64_t index;  // in row-major order
};

/// One application of a function: its tensors by their place in the call, and its scalars.
struct Application {
  const Expression* expression;
  ShortVector<size_t, 4> inputs;
  size_t out;
  ShortVector<Value, 4> values;
  DtypeSet met_by_floats = 0;           // types of tensors whose scalars are FLOAT
  std::optional<Element> element = {};  // the only scalar
};

/// The places of an output whose elements all become one number; where a dimension stands still
/// they are one. `*apart` says whether no two elements overlap.
Walk WalkOfOneValue(const Operand& out, bool* apart);

void CheckApplication(const Params& params, const Application& one, Checker& checker);
Plan PlanApplication(const Params& params, const Application& one);

/// The check and the plan of a row with an expression.
void CheckElementwise(const Params& params, Checker& checker);
Plan PlanElementwise(const Params& params, const Product& product);

}  // namespace openaclnn::supporting
