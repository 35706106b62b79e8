// SPDX-License-Identifier: Apache-2.0
// The softmax of a row of scores and its logarithm, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/rows/softmax_rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

/// A row of scores, in pieces as the kernels take them.
struct SoftmaxRow {
  explicit SoftmaxRow(int64_t width)
      : x(static_cast<size_t>(width)), powers(static_cast<size_t>(width)) {}

  static const SoftmaxKernels<double>& Softmax() {
    return *OPENACLNN_TARGET_SELECT(kDoubleSoftmax);
  }

  /// The sum over pieces of what of(first, n) makes of each.
  template <class Of>
  double Sum(const Of& of) const {
    const int64_t width = std::ssize(x);
    return SumParts(0, DivideUp(width, kSoftmaxPiece), [&](int64_t piece) {
      const int64_t first = piece * kSoftmaxPiece;
      return of(first, std::min(kSoftmaxPiece, width - first));
    });
  }

  /// Calls of(first, n) for each piece.
  template <class Of>
  void ForPieces(const Of& of) const {
    const int64_t width = std::ssize(x);
    for (int64_t i = 0; i < width; i += kSoftmaxPiece) of(i, std::min(kSoftmaxPiece, width - i));
  }

  /// The sum of x[i] * y[i].
  double Products(const std::vector<double>& y) const {
    return Sum([&](int64_t i, int64_t n) {
      const auto at = static_cast<size_t>(i);
      return Softmax().products(&x[at], &y[at], n);
    });
  }

  /// powers = e^(x - shift), shift at least each x. Their sum.
  double TakePowers(double shift) {
    return Sum([&](int64_t i, int64_t n) {
      const auto at = static_cast<size_t>(i);
      return Softmax().exp(&x[at], shift, n, &powers[at]);
    });
  }

  double Largest() const {
    double max = -HUGE_VAL;
    ForPieces([&](int64_t i, int64_t n) {
      max = std::max(max, Softmax().largest(&x[static_cast<size_t>(i)], n));
    });
    return max;
  }

  /// x becomes the logarithms of the softmax, powers e^(x - max). Returns the sum of the powers.
  double TakeLogarithms() {
    const double max = Largest(), sum = TakePowers(max), more = std::log(sum);
    ForPieces([&](int64_t i, int64_t n) {
      double* const at = &x[static_cast<size_t>(i)];
      Softmax().subtract(at, max, more, n, at);
    });
    return sum;
  }

  std::vector<double> x, powers;
};

}  // namespace openaclnn::supporting
