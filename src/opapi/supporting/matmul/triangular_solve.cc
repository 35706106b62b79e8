// SPDX-License-Identifier: Apache-2.0
// TriangularSolve: each column of the unknown by substitution, in double.
#include <algorithm>
#include <vector>

#include "generated/matmul.h"
#include "kernels/rows.h"
#include "supporting/matmul/lines.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// False when the batches do not fit each other.
bool CommonBatch(const TriangularSolveParams& p, Shape* batch) {
  const Shape a = BatchOf(p.A), b = BatchOf(p.self);
  *batch = Shape(std::max(a.size(), b.size()), 1);
  for (size_t i = 1; i <= batch->size(); ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    (*batch)[batch->size() - i] = x == 1 ? y : x;
  }
  return true;
}

/// x of A x = b, in the place of b. A is read along its rows, and no further than its triangle.
struct Substitution {
  void Solve(const Buffers& buffers, int64_t batch, std::vector<double>* x) const {
    std::vector<double> row(x->size());
    for (int64_t step = 0; step < size; ++step) {
      const int64_t i = lower ? step : size - 1 - step;
      const int64_t begin = lower ? 0 : i, n = lower ? i + 1 : size - i;
      a.Load(buffers, batch, i, begin, n, row.data());
      TreeSum<double> known;
      for (int64_t k = lower ? 0 : 1; k < (lower ? n - 1 : n); ++k) {
        known.Add(row[static_cast<size_t>(k)] * (*x)[static_cast<size_t>(begin + k)]);
      }
      double& value = (*x)[static_cast<size_t>(i)];
      value -= known.Total();
      if (!unit) value /= row[static_cast<size_t>(i - begin)];
    }
  }

  Lines a;
  int64_t size;
  bool lower, unit;
};

}  // namespace

void CheckTriangularSolve(const TriangularSolveParams& p, Checker& checker) {
  const Tensor &b = p.self, &a = p.A;
  checker.RankBetween(b, 2, kMaxRank).RankBetween(a, 2, kMaxRank).SameDtype(a, b);
  checker.SameDtype(p.xOut, b).SameDtype(p.mOut, b);
  if (!checker.ok()) return;
  const int64_t size = a.last_dim(), rows = b.dim(b.rank() - 2);
  checker.That(a.dim(a.rank() - 2) == size && rows == size, [&] {
    return Concat("A shape is ", ShapeText(a), ", expected squares of ", rows,
                  " rows as self has them, ", ShapeText(b));
  });
  Shape batch;
  checker.That(CommonBatch(p, &batch), [&] {
    return Concat("A shape is ", ShapeText(a), ", expected batches as those of self, ",
                  ShapeText(b));
  });
  if (!checker.ok()) return;
  CheckShape(p.xOut, With(batch, size, b.last_dim()), checker);
  CheckShape(p.mOut, With(batch, size, size), checker);
}

Plan PlanTriangularSolve(const TriangularSolveParams& p, const Product&) {
  Shape batch;
  CommonBatch(p, &batch);
  const int64_t size = p.A.last_dim(), columns = p.self.last_dim();
  const int64_t matrices = CountOf(batch);
  const Lines a(p.A, batch), copy(p.mOut, batch);
  // Of a column its elements are a line.
  const Lines b = Lines(p.self, batch).Turned(), x = Lines(p.xOut, batch).Turned();
  const bool upper = p.upper;
  const Substitution substitution = {p.transpose ? a.Turned() : a, size, upper == p.transpose,
                                     p.unitriangular};
  return {0, [=](const Buffers& buffers) -> Status {
            if (size == 0) return {};
            ParallelRows(matrices * columns, size * size, [&](int64_t line) {
              std::vector<double> values(static_cast<size_t>(size));
              b.Load(buffers, line / columns, line % columns, 0, size, values.data());
              substitution.Solve(buffers, line / columns, &values);
              x.Store(buffers, line / columns, line % columns, 0, size, values.data());
            });
            ParallelRows(matrices * size, size, [&](int64_t line) {
              const int64_t i = line % size;
              const int64_t begin = upper ? i : 0, n = upper ? size - i : i + 1;
              std::vector<double> values(static_cast<size_t>(size));  // zeros beside the triangle
              a.Load(buffers, line / size, i, begin, n, values.data() + begin);
              copy.Store(buffers, line / size, i, 0, size, values.data());
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
