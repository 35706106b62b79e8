// SPDX-License-Identifier: Apache-2.0
// LinalgQr: an orthogonal and a triangular factor by Householder's reflections, in double.
#include <algorithm>
#include <vector>

#include "generated/matmul.h"
#include "kernels/rows/rows.h"
#include "supporting/in_turn.h"
#include "supporting/matmul/lines.h"
#include "supporting/matmul/reflections.h"

namespace openaclnn::supporting {
namespace {

enum Mode : int64_t { kReduced, kComplete, kTriangleAlone };

}  // namespace

void CheckLinalgQr(const LinalgQrParams& p, Checker& checker) {
  const Tensor& self = p.self;
  checker.RankBetween(self, 2, kMaxRank).SameDtype(p.Q, self).SameDtype(p.R, self);
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
  if (q_columns == 0 && r_rows == 0) return Nothing();
  // The elements of a column lie in a line.
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
