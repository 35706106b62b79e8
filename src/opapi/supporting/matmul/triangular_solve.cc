// SPDX-License-Identifier: Apache-2.0
// TriangularSolve: each column of the unknown by substitution, in double or in pairs of doubles.
#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

#include "generated/matmul.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/columns.h"
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

constexpr int64_t kColumnsOfBlock = 32;  // 128 KB of 512 rows, which a second-level cache holds
constexpr int64_t kFewColumns = 4;       // which are not worth lanes

struct ColumnRoom {
  std::vector<double> x, row, known;
};

/// Finds x of A x = b in the place of b. A is read along its rows, and no further than its
/// triangle.
template <class T>
struct Substitution {
  void Solve(const Buffers& buffers, int64_t batch, std::vector<T>* x) const {
    std::vector<T> row(x->size());
    for (int64_t step = 0; step < size; ++step) {
      const int64_t i = lower ? step : size - 1 - step;
      const int64_t begin = lower ? 0 : i, n = lower ? i + 1 : size - i;
      a.Load(buffers, batch, i, begin, n, row.data());
      TreeSum<T> known;
      for (int64_t k = lower ? 0 : 1; k < (lower ? n - 1 : n); ++k) {
        known.Add(Multiplied(row[static_cast<size_t>(k)], (*x)[static_cast<size_t>(begin + k)]));
      }
      T& value = (*x)[static_cast<size_t>(i)];
      value -= known.Total();
      if (!unit) value = DividedBy(value, row[static_cast<size_t>(i - begin)]);
    }
  }

  /// Solves for `pitch` columns at once, which lie side by side.
  void SolveColumns(const Buffers& buffers, int64_t batch, int64_t pitch, ColumnRoom* room) const {
    const auto kernel = OPENACLNN_TARGET_SELECT(kColumnKernels)->products;
    double* const x = room->x.data();
    for (int64_t step = 0; step < size; ++step) {
      const int64_t i = lower ? step : size - 1 - step;
      const int64_t begin = lower ? 0 : i, n = lower ? i + 1 : size - i;
      double* const row = room->row.data();
      a.Load(buffers, batch, i, begin, n, row);
      const int64_t first = lower ? 0 : 1;  // of the known
      kernel({row + first, x + (begin + first) * pitch, n - 1, pitch, room->known.data()});
      const double divisor = unit ? 1 : row[i - begin];
      double* const values = x + i * pitch;
      for (int64_t j = 0; j < pitch; ++j) {
        values[j] = (values[j] - room->known[static_cast<size_t>(j)]) / divisor;
      }
    }
  }

  LinesOf<T> a;
  int64_t size;
  bool lower, unit;
};

/// Solves blocks of columns; the rows of b and x are those of the matrices.
Plan MakeSolvedColumns(const LinesOf<double>& b, const LinesOf<double>& x,
                       const Substitution<double>& substitution, int64_t matrices,
                       int64_t columns) {
  return {0, [=](const Buffers& buffers) -> Status {
            const int64_t size = substitution.size, blocks = DivideUp(columns, kColumnsOfBlock);
            ParallelRowsIn<ColumnRoom>(
                matrices * blocks, WrappingProduct(size * size, kColumnsOfBlock),
                [&](int64_t each, ColumnRoom* room) {
                  const int64_t batch = each / blocks, first = each % blocks * kColumnsOfBlock;
                  const int64_t n = std::min(kColumnsOfBlock, columns - first);
                  const int64_t pitch = DivideUp(n, kColumnLanes) * kColumnLanes;
                  room->x.assign(static_cast<size_t>(size * pitch), 0);
                  room->row.resize(static_cast<size_t>(size));
                  room->known.resize(static_cast<size_t>(pitch));
                  for (int64_t i = 0; i < size; ++i) {
                    b.Load(buffers, batch, i, first, n, room->x.data() + i * pitch);
                  }
                  substitution.SolveColumns(buffers, batch, pitch, room);
                  for (int64_t i = 0; i < size; ++i) {
                    x.Store(buffers, batch, i, first, n, room->x.data() + i * pitch);
                  }
                });
            return {};
          }};
}

template <class T>
Plan MakeTriangularSolve(const TriangularSolveParams& p) {
  Shape batch;
  CommonBatch(p, &batch);
  const int64_t size = p.A.last_dim(), columns = p.self.last_dim();
  const int64_t matrices = CountOf(batch);
  const LinesOf<T> a(p.A, batch), copy(p.mOut, batch);
  // The elements of a column are a line of the matrix turned round.
  const LinesOf<T> b = LinesOf<T>(p.self, batch).Turned();
  const LinesOf<T> x = LinesOf<T>(p.xOut, batch).Turned();
  const Substitution<T> substitution = {p.transpose ? a.Turned() : a, size, p.upper == p.transpose,
                                        p.unitriangular};
  std::function<Status(const Buffers&)> solve;
  if constexpr (std::is_same_v<T, double>) {
    if (columns >= kFewColumns) {
      solve = MakeSolvedColumns(b.Turned(), x.Turned(), substitution, matrices, columns).work;
    }
  }
  return {0, [=](const Buffers& buffers) -> Status {
            if (size == 0) return {};
            if (solve) {
              Status status = solve(buffers);
              if (!status.ok()) return status;
            }
            ParallelRows(solve ? 0 : matrices * columns, size * size, [&](int64_t line) {
              std::vector<T> values(static_cast<size_t>(size));
              b.Load(buffers, line / columns, line % columns, 0, size, values.data());
              substitution.Solve(buffers, line / columns, &values);
              x.Store(buffers, line / columns, line % columns, 0, size, values.data());
            });
            ParallelRows(matrices * size, size, [&](int64_t line) {
              std::vector<T> values(static_cast<size_t>(size));
              a.Load(buffers, line / size, line % size, 0, size, values.data());
              copy.Store(buffers, line / size, line % size, 0, size, values.data());
            });
            return {};
          }};
}

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
  return IsComplex(p.A) ? MakeTriangularSolve<Pair>(p) : MakeTriangularSolve<double>(p);
}

}  // namespace openaclnn::supporting
