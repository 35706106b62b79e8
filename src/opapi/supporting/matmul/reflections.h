// SPDX-License-Identifier: Apache-2.0
// Householder's reflections, which turn a matrix into a triangle, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

inline double DotOf(const double* a, const double* b, int64_t n) {
  TreeSum<double> sum;
  for (int64_t i = 0; i < n; ++i) sum.Add(a[i] * b[i]);
  return sum.Total();
}

/// A matrix by its columns, which reflections turn into a triangle; v of each, whose first element
/// is 1, stays below it.
class Reflections {
 public:
  Reflections(int64_t rows, int64_t columns)
      : rows_(rows),
        count_(std::min(rows, columns)),
        columns_(columns),
        elements_(static_cast<size_t>(rows * columns)),
        factors_(static_cast<size_t>(count_)) {}

  int64_t count() const { return count_; }
  double* Column(int64_t j) { return elements_.data() + j * rows_; }
  const double* Column(int64_t j) const { return elements_.data() + j * rows_; }

  void Triangulate() {
    for (int64_t k = 0; k < count_; ++k) {
      double* const x = Column(k) + k;
      const int64_t below = rows_ - k - 1;
      // A column that is 0 below its first element stays as it is.
      const double rest = DotOf(x + 1, x + 1, below);
      if (rest == 0) continue;
      const double first = -std::copysign(std::sqrt(x[0] * x[0] + rest), x[0]);
      const double scale = x[0] - first;
      factors_[static_cast<size_t>(k)] = -scale / first;
      for (int64_t i = 1; i <= below; ++i) x[i] /= scale;
      x[0] = first;
      for (int64_t j = k + 1; j < columns_; ++j) Reflect(k, Column(j));
    }
  }

  /// Column `column` of the product of all reflections.
  void Orthogonal(int64_t column, std::vector<double>* to) const {
    std::fill(to->begin(), to->end(), 0);
    (*to)[static_cast<size_t>(column)] = 1;
    Apply(to->data());
  }

  /// x becomes the product of all reflections and x.
  void Apply(double* x) const {
    for (int64_t k = count_; k-- > 0;) Reflect(k, x);
  }

 private:
  /// to -= factor v (v to), below row k.
  void Reflect(int64_t k, double* to) const {
    const double factor = factors_[static_cast<size_t>(k)];
    if (factor == 0) return;
    const double* const v = Column(k) + k;
    const int64_t below = rows_ - k - 1;
    const double along = factor * (to[k] + DotOf(v + 1, to + k + 1, below));
    to[k] -= along;
    for (int64_t i = 1; i <= below; ++i) to[k + i] -= along * v[i];
  }

  int64_t rows_, count_, columns_;
  std::vector<double> elements_, factors_;
};

}  // namespace openaclnn::supporting
