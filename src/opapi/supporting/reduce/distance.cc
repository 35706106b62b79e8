// SPDX-License-Identifier: Apache-2.0
// Cdist and Pdist: norms of the differences of rows, in double.
#include <cmath>
#include <vector>

#include "kernels/work/divide_up.h"
#include "supporting/columns.h"
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

/// A task's rows and columns of a matrix of distances. So many rows share the columns, which lie
/// side by side in 32 KB: half of what a first-level cache has.
constexpr int64_t kRowsOfBlock = 64, kNumbersOfBlock = 4096;
constexpr int64_t kMostColumns = 256;
constexpr int64_t kWidest = 4096;  // rows whose 16 columns a second-level cache holds

/// Which sums the distances of an order are, if lanes make them.
ColumnKernels::Kernel KernelOf(double order) {
  const auto* const kernels = OPENACLNN_TARGET_SELECT(kColumnKernels);
  return order == 2          ? kernels->roots
         : order == 1        ? kernels->sizes
         : order == 0        ? kernels->counts
         : std::isinf(order) ? kernels->largest
                             : nullptr;
}

/// Blocks of distances of the rows of `a` from those of `b`.
class DistanceBlocks {
 public:
  struct Room {
    std::vector<double> row, columns, distances;
  };

  DistanceBlocks(const Points& a, const Points& b, int64_t rows, int64_t columns, int64_t width,
                 double order)
      : rows_(rows),
        columns_(columns),
        a_(a),
        b_(b),
        width_(width),
        order_(order),
        kernel_(KernelOf(order)),
        together_(
            std::clamp(kNumbersOfBlock / std::max(width, int64_t{1}) / kColumnLanes * kColumnLanes,
                       kColumnLanes, kMostColumns)) {}

  /// The blocks of a batch.
  int64_t blocks() const {
    return WrappingProduct(DivideUp(rows_, kRowsOfBlock), DivideUp(columns_, together_));
  }
  /// Whether all columns of a block are those of its rows or come before them.
  bool IsBelow(int64_t block) const {
    const int64_t across = DivideUp(columns_, together_);
    return (block % across + 1) * together_ <= block / across * kRowsOfBlock + 1;
  }
  int64_t terms() const { return kRowsOfBlock * together_ * std::max(width_, int64_t{1}); }

  /// Calls body(row, first column, count, distances) for the rows of a block.
  template <class Body>
  void ForRows(const Buffers& buffers, int64_t batch, int64_t block, Room* room,
               const Body& body) const {
    const int64_t across = DivideUp(columns_, together_);
    const int64_t first = block % across * together_, begin = block / across * kRowsOfBlock;
    const int64_t count = std::min(together_, columns_ - first);
    const bool in_lanes = kernel_ != nullptr && width_ <= kWidest;
    const int64_t pitch = DivideUp(count, kColumnLanes) * kColumnLanes;
    room->distances.resize(static_cast<size_t>(pitch));
    if (in_lanes) SetColumns(buffers, batch, first, count, pitch, room);
    for (int64_t i = begin; i < std::min(rows_, begin + kRowsOfBlock); ++i) {
      a_.Load(buffers, batch, i, &room->row);
      if (in_lanes) {
        kernel_({room->row.data(), room->columns.data(), width_, pitch, room->distances.data()});
      } else {
        for (int64_t j = 0; j < count; ++j) {
          b_.Load(buffers, batch, first + j, &room->columns);
          room->distances[static_cast<size_t>(j)] = Distance(room->row, room->columns, order_);
        }
      }
      body(i, first, count, room->distances.data());
    }
  }

 private:
  void SetColumns(const Buffers& buffers, int64_t batch, int64_t first, int64_t count,
                  int64_t pitch, Room* room) const {
    room->columns.assign(static_cast<size_t>(pitch * width_), 0);
    for (int64_t j = 0; j < count; ++j) {
      b_.Load(buffers, batch, first + j, &room->row);
      for (int64_t k = 0; k < width_; ++k) {
        room->columns[static_cast<size_t>(k * pitch + j)] = room->row[static_cast<size_t>(k)];
      }
    }
  }

  int64_t rows_, columns_;
  Points a_, b_;
  int64_t width_;
  double order_;
  ColumnKernels::Kernel kernel_;
  int64_t together_;  // columns of a block
};

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
  const DistanceBlocks distances(a, b, rows, columns, p.x1.last_dim(), p.p);
  return {0,
          [=, batches = CountOf(batch), store = StorerOf<double>(p.out.dtype()),
           out = p.out.place](const Buffers& buffers) -> Status {
            const int64_t blocks = distances.blocks();
            ParallelRowsIn<DistanceBlocks::Room>(
                batches * blocks, distances.terms(), [&](int64_t each, DistanceBlocks::Room* room) {
                  const int64_t batch_number = each / blocks;
                  distances.ForRows(
                      buffers, batch_number, each % blocks, room,
                      [&](int64_t row, int64_t first, int64_t count, const double* values) {
                        store(values, count,
                              out(buffers) + to(batch_number * rows + row) * bytes + first * step,
                              step);
                      });
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
  const int64_t rows = p.self.dim(0);
  const int64_t bytes = BytesOf(p.out), step = p.out.tensor().strides[0] * bytes;
  const DistanceBlocks distances(points, points, rows, rows, p.self.last_dim(), p.p);
  return {0,
          [=, store = StorerOf<double>(p.out.dtype()),
           out = p.out.place](const Buffers& buffers) -> Status {
            ParallelRowsIn<DistanceBlocks::Room>(
                distances.blocks(), distances.terms(),
                [&](int64_t block, DistanceBlocks::Room* room) {
                  if (distances.IsBelow(block)) return;
                  distances.ForRows(
                      buffers, 0, block, room,
                      [&](int64_t row, int64_t first, int64_t count, const double* values) {
                        // The pairs of a row follow those of earlier rows, and begin with the row
                        // behind it.
                        const int64_t skipped = std::clamp(row + 1 - first, int64_t{0}, count);
                        const int64_t before = row * (2 * rows - row - 1) / 2;
                        const int64_t at = before + first + skipped - row - 1;
                        store(values + skipped, count - skipped, out(buffers) + at * step, step);
                      });
                });
            return {};
          }};
}

}  // namespace openaclnn::supporting
