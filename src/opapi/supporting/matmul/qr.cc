// SPDX-License-Identifier: Apache-2.0
// LinalgQr: an orthogonal and a triangular factor by Householder's reflections, in double.
#include <algorithm>
#include <cmath>
#include <vector>

#include "generated/matmul.h"
#include "kernels/rows.h"
#include "supporting/matmul/lines.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

enum Mode : int64_t { kReduced, kComplete, kTriangleAlone };

double DotOf(const double* a, const double* b, int64_t n) {
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
  void Orthogonal(int64_t column, std::vector<double>* to) {
    std::fill(to->begin(), to->end(), 0);
    (*to)[static_cast<size_t>(column)] = 1;
    for (int64_t k = count_; k-- > 0;) Reflect(k, to->data());
  }

 private:
  /// to -= factor v (v to), below row k.
  void Reflect(int64_t k, double* to) {
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

}  // namespace

void CheckLinalgQr(const LinalgQrParams& p, Checker& checker) {
  const Tensor& self = p.self;
  checker.RankBetween(self, 2, kMaxRank).SameDtype(p.Q, self).SameDtype(p.R, self);
  checker.That(p.mode >= kReduced && p.mode <= kTriangleAlone,
               [&] { return Concat("mode value is ", p.mode, ", expected 0, 1 or 2"); });
  if (!checker.ok()) return;
  const int64_t m = self.dim(self.rank() - 2), n = self.last_dim(), k = std::min(m, n);
  const Shape batch = BatchOf(self);
  CheckShape(p.R, With(batch, p.mode == kComplete ? m : k, n), checker);
  if (p.mode != kTriangleAlone) {
    return CheckShape(p.Q, With(batch, m, p.mode == kComplete ? m : k), checker);
  }
  checker.That(p.Q.empty(), [&] {
    return Concat("Q shape is ", ShapeText(p.Q), ", expected no elements in mode 2");
  });
}

Plan PlanLinalgQr(const LinalgQrParams& p, const Product&) {
  const Shape batch = BatchOf(p.self);
  const int64_t m = p.self.dim(p.self.rank() - 2), n = p.self.last_dim();
  const int64_t matrices = CountOf(batch);
  const int64_t q_columns = p.Q.empty() ? 0 : p.Q.last_dim();
  const int64_t r_rows = p.R.empty() ? 0 : p.R.dim(p.R.rank() - 2);
  if (q_columns == 0 && r_rows == 0) return {0, [](const Buffers&) -> Status { return {}; }};
  // Of a column its elements are a line.
  const Lines a = Lines(p.self, batch).Turned(), r = Lines(p.R, batch).Turned();
  const Lines q = p.Q.empty() ? r : Lines(p.Q, batch).Turned();
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(matrices, m * n * std::min(m, n), [&](int64_t matrix) {
              Reflections reflections(m, n);
              for (int64_t j = 0; j < n; ++j) {
                a.Load(buffers, matrix, j, 0, m, reflections.Column(j));
              }
              reflections.Triangulate();
              std::vector<double> column(static_cast<size_t>(m));
              for (int64_t j = 0; j < n && r_rows > 0; ++j) {
                const int64_t filled = std::min(j + 1, r_rows);
                std::fill(column.begin(), column.end(), 0);
                std::copy_n(reflections.Column(j), filled, column.begin());
                r.Store(buffers, matrix, j, 0, r_rows, column.data());
              }
              for (int64_t j = 0; j < q_columns; ++j) {
                reflections.Orthogonal(j, &column);
                q.Store(buffers, matrix, j, 0, m, column.data());
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
