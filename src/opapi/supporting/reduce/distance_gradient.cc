// SPDX-License-Identifier: Apache-2.0
// CdistBackward: how distances of rows move with the first rows, in double.
#include <cmath>
#include <vector>

#include "supporting/in_turn.h"
#include "supporting/reduce/points.h"

namespace openaclnn::supporting {
namespace {

double SignOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

/// As the type stores it.
double Rounded(double value, LoadRow<double> load, StoreRow<double> store) {
  std::byte bytes[sizeof(double)];
  store(&value, 1, bytes, 0);
  load(bytes, 0, 1, &value);
  return value;
}

/// The slope of the distance by one difference of elements; 0 at distance 0, where it has none.
double SlopeOf(double difference, double distance, double order) {
  const double sign = SignOf(difference);
  if (order == 1) return sign;
  if (order == 0 || distance == 0) return 0;
  if (order == 2) return difference / distance;
  const double size = std::abs(difference);
  if (size == 0) return 0;
  return sign * std::pow(size / distance, order - 1);
}

Shape RowsOf(const Shape& batch, int64_t rows, int64_t width) {
  Shape shape = batch;
  shape.push_back(rows);
  shape.push_back(width);
  return shape;
}

/// The batches of `all`, numbered, that a batch of `own`, which is broadcast to it, stands for.
class BroadcastBatches {
 public:
  BroadcastBatches() = default;  // none

  BroadcastBatches(const Shape& own, const Shape& all) {
    const size_t added = all.size() - own.size();
    Shape kept(all.size(), 1), repeated = all, steps(all.size());
    int64_t step = 1;
    for (size_t i = all.size(); i-- > 0; step *= all[i]) {
      steps[i] = step;
      if (i < added || own[i - added] == 1) continue;
      std::swap(kept[i], repeated[i]);
    }
    const auto rank = static_cast<uint32_t>(all.size());
    first_ = Offsets(kept.data(), steps.data(), rank);
    later_ = Offsets(repeated.data(), steps.data(), rank);
    repeats_ = CountOf(repeated);
  }

  int64_t repeats() const { return repeats_; }
  int64_t Number(int64_t own, int64_t repeat) const { return first_(own) + later_(repeat); }

 private:
  Offsets first_, later_;
  int64_t repeats_ = 0;
};

/// The operand's shape is that of a batch of matrices, whose own batch is broadcast.
void CheckMatrices(const Tensor& tensor, const Shape& wanted, Checker& checker) {
  bool fits = tensor.rank() >= 2 && tensor.rank() <= wanted.size();
  for (uint32_t i = 1; fits && i <= tensor.rank(); ++i) {
    const int64_t dim = tensor.dim(tensor.rank() - i);
    fits = dim == wanted[wanted.size() - i] || (i > 2 && dim == 1);
  }
  checker.That(fits, [&] {
    return Concat(tensor.name(), " shape is ", ShapeText(tensor), ", expected ",
                  ShapeText(wanted.data(), static_cast<uint32_t>(wanted.size())),
                  " or batches that are broadcast to it");
  });
}

}  // namespace

void CheckCdistGradient(const CdistGradientParams& p, Checker& checker) {
  for (const Tensor* each : {&p.grad, &p.x1, &p.x2, &p.cdist}) {
    checker.RankBetween(*each, 2, kMaxRank).SameDtype(*each, p.x1);
  }
  checker.SameDtype(p.out, p.x1);
  CheckOrder(p.p, checker);
  if (!checker.ok()) return;
  const Shape batch = BatchOf(p.grad);
  const int64_t rows = p.x1.dim(p.x1.rank() - 2), width = p.x1.last_dim();
  const int64_t columns = p.x2.dim(p.x2.rank() - 2);
  CheckMatrices(p.grad, RowsOf(batch, rows, columns), checker);
  CheckMatrices(p.x1, RowsOf(batch, rows, width), checker);
  CheckMatrices(p.x2, RowsOf(batch, columns, width), checker);
  CheckMatrices(p.cdist, RowsOf(batch, rows, columns), checker);
  CheckShape(p.out, ShapeOf(p.x1), checker);
}

Plan PlanCdistGradient(const CdistGradientParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Shape batch = BatchOf(p.grad);
  const Points a(p.x1, batch), b(p.x2, batch), grad(p.grad, batch), distance(p.cdist, batch);
  const Offsets to(p.out, p.out.rank() - 1);
  const Shape own = BatchOf(p.out);
  const int64_t rows = p.out.dim(p.out.rank() - 2), width = p.out.last_dim();
  const int64_t bytes = BytesOf(p.out);
  const int64_t step = p.out.tensor().strides[p.out.rank() - 1] * bytes;
  return {0,
          [=, matrices = CountOf(own),
           batches = p.grad.empty() ? BroadcastBatches() : BroadcastBatches(own, batch),
           columns = p.x2.dim(p.x2.rank() - 2), order = double{p.p},
           load = LoaderOf<double>(p.out.dtype()), store = StorerOf<double>(p.out.dtype()),
           out = p.out.place](const Buffers& buffers) -> Status {
            ParallelRows(matrices * rows, columns * width * 4, [&](int64_t each) {
              const int64_t row = each % rows;
              std::vector<double> from, other, gradients, distances;
              std::vector<double> sums(static_cast<size_t>(width));
              for (int64_t repeat = 0; repeat < batches.repeats(); ++repeat) {
                const int64_t matrix = batches.Number(each / rows, repeat);
                a.Load(buffers, matrix, row, &from);
                grad.Load(buffers, matrix, row, &gradients);
                distance.Load(buffers, matrix, row, &distances);
                for (int64_t j = 0; j < columns; ++j) {
                  const auto at = static_cast<size_t>(j);
                  b.Load(buffers, matrix, j, &other);
                  for (size_t k = 0; k < sums.size(); ++k) {
                    const double difference = from[k] - other[k];
                    if (std::isinf(order)) {  // of the largest, as the distance has it
                      const double size = Rounded(std::abs(difference), load, store);
                      if (size != distances[at]) continue;
                      sums[k] += SignOf(difference) * gradients[at];
                    } else {
                      sums[k] += SlopeOf(difference, distances[at], order) * gradients[at];
                    }
                  }
                }
              }
              store(sums.data(), width, out(buffers) + to(each) * bytes, step);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
