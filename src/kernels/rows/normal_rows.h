// SPDX-License-Identifier: Apache-2.0
// Rows of float that are normalised, and their gradients, in one pass each.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// A row and what it is normalised by: normal = (x - mean) * rstd. Each element has a weight, or
/// all of them one, and so it is with biases.
template <class Weight>
struct NormalRow {
  const float* x;
  double mean, rstd;
  const Weight* weight;
  bool one_weight = false;
};

inline constexpr int64_t kNormalRows = 4;  // that are added at once

/// Sums over a row.
struct GradientSums {
  double gradients, products;  // of g * weight, and of g * weight * normal
  friend GradientSums operator+(GradientSums a, GradientSums b) {
    return {a.gradients + b.gradients, a.products + b.products};
  }
};

/// The loops that are compiled for each instruction set, in double. Results are rounded to float:
/// to the nearest, or, to be rounded once more, such that rounding to 16 bits gives what one
/// rounding does.
struct NormalKernels {
  using Row = NormalRow<double>;
  /// y = normal * weight + bias
  void (*normalize)(const Row& row, const double* bias, int64_t n, bool once_more, float* y);
  /// By the tree of a row.
  GradientSums (*sums)(const Row& row, const float* g, int64_t n);
  /// dx = rstd * (g * weight - shift - normal * slope)
  void (*gradient)(const Row& row, const float* g, double shift, double slope, int64_t n,
                   bool once_more, float* dx);
  /// weights = weights + g * normal, biases = biases + g, for one row after the other; at most
  /// kNormalRows.
  void (*add)(const Row* rows, const float* const* g, int64_t count, int64_t n, double* weights,
              double* biases);
};
OPENACLNN_TARGET_DECLARE(extern const NormalKernels kNormalKernels)

/// NormalKernels in float, for results of 16 bits. Operations are within 2^-24 of their results,
/// unless they underflow, and the mean has the digits of two floats. False where a result is not
/// finite, be it that a step on the way was beyond float.
struct NarrowNormalKernels {
  using Row = NormalRow<float>;
  /// y = normal * weight + bias
  bool (*normalize)(const Row& row, const float* bias, int64_t n, float* y);
  /// dx = rstd * (g * weight - shift - normal * slope)
  bool (*gradient)(const Row& row, const float* g, double shift, double slope, int64_t n,
                   float* dx);
};
OPENACLNN_TARGET_DECLARE(extern const NarrowNormalKernels kNarrowNormalKernels)

}  // namespace openaclnn
