// SPDX-License-Identifier: Apache-2.0
// Sums of products of numbers and of rows of numbers in double, by the tree of all sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

/// A row of sums.
struct RowSums {
  explicit RowSums(size_t width = 0) : values(width) {}
  RowSums& operator+=(const std::vector<double>& terms) {
    for (size_t i = 0; i < values.size(); ++i) values[i] += terms[i];
    return *this;
  }
  friend RowSums operator+(RowSums a, const RowSums& b) {
    a += b.values;
    return a;
  }

  std::vector<double> values;
};

inline double ProductOf(const double* a, const double* b, int64_t n) {
  TreeSum<double> sum;
  for (int64_t i = 0; i < n; ++i) sum.Add(a[i] * b[i]);
  return sum.Total();
}

/// `to` becomes the sum of `count` rows, each times its factor: row(i) points to the i-th one.
template <class Factor, class Row>
void SumRows(int64_t count, int64_t width, const Factor& factor, const Row& row, double* to) {
  const auto size = static_cast<size_t>(width);
  TreeSum<RowSums> sum{RowSums(size)};
  std::vector<double> terms(size);
  for (int64_t i = 0; i < count; ++i) {
    const double* const from = row(i);
    const double times = factor(i);
    for (size_t d = 0; d < size; ++d) terms[d] = times * from[d];
    sum.Add(terms);
  }
  const RowSums total = sum.Total();
  std::copy(total.values.begin(), total.values.end(), to);
}

/// The softmax of a row of scores, of which -infinity are hidden. If all are hidden, `max` is
/// -infinity, `sum` 0, and so are the weights.
struct RowSoftmax {
  explicit RowSoftmax(std::vector<double>* scores) {
    for (const double score : *scores) max = std::max(max, score);
    TreeSum<double> powers;
    for (double& score : *scores) {
      score = score == -HUGE_VAL ? 0 : std::exp(score - max);
      powers.Add(score);
    }
    sum = powers.Total();
    for (double& score : *scores) score = sum == 0 ? 0 : score / sum;
  }

  double max = -HUGE_VAL, sum = 0;
};

}  // namespace openaclnn::supporting
