// SPDX-License-Identifier: Apache-2.0
// Rows of double, and of integers: what folds them to a number or onto each other, and what
// normalisations do with them.
//
// A sum of a row has one tree, which its length alone defines: blocks of 1,024 elements, in each 16
// sequences of every 16th element, which are added pairwise; then the blocks pairwise, split at the
// largest power of two.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// Elements that the tree of a row sums together: 16 sequences of 64.
inline constexpr int64_t kRowBlock = 1024;

/// The number of parts in the left half of a tree over more than one part: the largest power of two
/// below their number. Inlined always, for kernels of every instruction set.
inline __attribute__((always_inline)) int64_t LeftHalf(int64_t parts) {
  int64_t half = 1;
  while (half * 2 < parts) half *= 2;
  return half;
}

/// A way to make one of many elements of type T, which commutes.
template <class T>
struct RowFold {
  /// The sum of a row, by the tree; `nothing` if the row is empty.
  T (*row)(const T* x, int64_t n);
  T (*float_row)(const float* x, int64_t n);  // null for integers
  /// acc[j] with rows[0][j], then with rows[1][j], …; at most 4 rows.
  void (*rows)(const T* const* rows, int64_t count, int64_t width, T* acc);
  void (*float_rows)(const float* const* rows, int64_t count, int64_t width, T* acc);
  /// acc[j] with term[j], both of them folded.
  void (*join)(const T* term, int64_t width, T* acc);
  T nothing;
};

/// The loops that are compiled for each instruction set. Integers wrap; NaN is the largest and the
/// smallest.
struct DoubleRowKernels {
  RowFold<double> sum, squares, largest, smallest;
  RowFold<int64_t> integer_sum, integer_largest, integer_smallest;
  /// Sums by the tree of a row.
  double (*products)(const double* x, const double* y, int64_t n);
  double (*distances)(const double* x, double from, int64_t n);  // of (x - from)^2
  double (*float_distances)(const float* x, double from, int64_t n);
  /// x = (x - shift) * factor
  void (*scale)(double* x, double shift, double factor, int64_t n);
  /// x = x / divisor
  void (*divide)(double* x, double divisor, int64_t n);
  /// x = x * weight + bias
  void (*weigh)(double* x, const double* weight, const double* bias, int64_t n);
  /// x = x * weight + bias
  void (*move)(double* x, double weight, double bias, int64_t n);
  /// x = x * y
  void (*multiply)(double* x, const double* y, int64_t n);
  /// sum = sum + x * y
  void (*add_products)(double* sum, const double* x, const double* y, int64_t n);
  /// x = factor * (x - shift - y * slope)
  void (*project)(double* x, const double* y, double factor, double shift, double slope, int64_t n);
};
OPENACLNN_TARGET_DECLARE(extern const DoubleRowKernels kDoubleRowKernels)

inline const DoubleRowKernels& DoubleRows() { return *OPENACLNN_TARGET_SELECT(kDoubleRowKernels); }

}  // namespace openaclnn
