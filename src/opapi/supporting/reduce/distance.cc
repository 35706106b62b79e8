// SPDX-License-Identifier: Apache-2.0
// Cdist and Pdist: norms of the differences of rows, in double.
#include <vector>

#include "supporting/in_turn.h"
#include "supporting/reduce/norm_fold.h"
#include "supporting/reduce/points.h"

namespace openaclnn::supporting {
namespace {

double Distance(const std::vector<double>& a, const std::vector<double>& b, double order) {
  NormFold norm(order);
  for (size_t i = 0; i < a.size(); ++i) norm.Add(a[i] - b[i]);
  return norm.Result(static_cast<int64_t>(a.size()), 0);
}

}  // namespace

void CheckCdist(const CdistParams& p, Checker& checker) {
  checker.RankBetween(p.x1, 2, kMaxRank).RankBetween(p.x2, 2, kMaxRank);
  checker.SameDtype(p.x2, p.x1).SameDtype(p.out, p.x1);
  CheckOrder(p.p, checker);
  if (!checker.ok()) return;
  // Batches of both: as views of rows and columns that fit each other.
  Shape shape = ShapeOf(p.x1);
  shape[shape.size() - 2] = 1;
  Shape other = ShapeOf(p.x2);
  other[other.size() - 2] = 1;
  bool fits = shape.back() == other.back();
  for (size_t i = 1; fits && i <= std::min(shape.size(), other.size()); ++i) {
    const int64_t a = shape[shape.size() - i], b = other[other.size() - i];
    fits = a == b || a == 1 || b == 1;
  }
  checker.That(fits, [&] {
    return Concat("x2 shape is ", ShapeText(p.x2), ", expected rows and batches as those of x1, ",
                  ShapeText(p.x1));
  });
  checker.Rank(p.out, static_cast<uint32_t>(std::max(shape.size(), other.size())));
  if (!checker.ok()) return;
  Shape wanted(p.out.rank(), 1);
  for (size_t i = 3; i <= wanted.size(); ++i) {
    const int64_t a = i <= shape.size() ? shape[shape.size() - i] : 1;
    const int64_t b = i <= other.size() ? other[other.size() - i] : 1;
    wanted[wanted.size() - i] = a == 1 ? b : a;
  }
  wanted[wanted.size() - 2] = p.x1.dim(p.x1.rank() - 2);
  wanted.back() = p.x2.dim(p.x2.rank() - 2);
  CheckShape(p.out, wanted, checker);
}

Plan PlanCdist(const CdistParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Shape batch = BatchOf(p.out);
  const Points a(p.x1, batch), b(p.x2, batch);
  const Offsets to(p.out, p.out.rank() - 1);
  const int64_t rows = p.out.dim(p.out.rank() - 2), columns = p.out.last_dim();
  const int64_t bytes = BytesOf(p.out);
  const int64_t step = p.out.tensor().strides[p.out.rank() - 1] * bytes;
  return {0,
          [=, batches = CountOf(batch), width = p.x1.last_dim(), order = double{p.p},
           store = StorerOf<double>(p.out.dtype()),
           out = p.out.place](const Buffers& buffers) -> Status {
            ParallelRows(batches * rows, columns * width, [&](int64_t row) {
              std::vector<double> from, other, distances;
              a.Load(buffers, row / rows, row % rows, &from);
              for (int64_t j = 0; j < columns; ++j) {
                b.Load(buffers, row / rows, j, &other);
                distances.push_back(Distance(from, other, order));
              }
              store(distances.data(), columns, out(buffers) + to(row) * bytes, step);
            });
            return {};
          }};
}

void CheckPdist(const PdistParams& p, Checker& checker) {
  checker.Rank(p.self, 2).SameDtype(p.out, p.self);
  CheckOrder(p.p, checker);
  if (!checker.ok()) return;
  const int64_t n = p.self.dim(0);
  const int64_t half = n / 2;  // of the one of n and n - 1 that is even
  int64_t pairs = 0;
  checker.That(!__builtin_mul_overflow(half, n % 2 == 0 ? n - 1 : n, &pairs), [&] {
    return Concat("self shape is ", ShapeText(p.self), ", expected rows of fewer than 2^63 pairs");
  });
  CheckShape(p.out, {pairs}, checker);
}

Plan PlanPdist(const PdistParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Points points(p.self, {});
  const int64_t bytes = BytesOf(p.out), step = p.out.tensor().strides[0] * bytes;
  return {0,
          [=, rows = p.self.dim(0), width = p.self.last_dim(), order = double{p.p},
           store = StorerOf<double>(p.out.dtype()),
           out = p.out.place](const Buffers& buffers) -> Status {
            ParallelRows(rows - 1, rows / 2 * width, [&](int64_t row) {
              std::vector<double> from, other, distances;
              points.Load(buffers, 0, row, &from);
              for (int64_t j = row + 1; j < rows; ++j) {
                points.Load(buffers, 0, j, &other);
                distances.push_back(Distance(from, other, order));
              }
              const int64_t before = row * (2 * rows - row - 1) / 2;  // pairs of earlier rows
              store(distances.data(), rows - row - 1, out(buffers) + before * step, step);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
