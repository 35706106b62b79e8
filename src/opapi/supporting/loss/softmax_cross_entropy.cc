// SPDX-License-Identifier: Apache-2.0
// SoftmaxCrossEntropyWithLogits: of each row the loss, and the gradient by its scores.
//
// loss = -sum y * (x - max - log sum exp(x - max)), backprop = exp(x - max) / sum exp(x - max) - y
#include <vector>

#include "generated/loss.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/elements.h"
#include "supporting/softmax_row.h"

namespace openaclnn::supporting {
namespace {

/// A row of scores and of labels.
struct LossRow : SoftmaxRow {
  explicit LossRow(int64_t width) : SoftmaxRow(width), y(static_cast<size_t>(width)) {}

  /// Leaves the gradient in `powers`.
  double Loss() {
    const double factor = 1 / TakeLogarithms();
    for (size_t i = 0; i < x.size(); ++i) powers[i] = powers[i] * factor - y[i];
    return -Products(y);
  }

  std::vector<double> y;
};

}  // namespace

void CheckSoftmaxCrossEntropy(const SoftmaxCrossEntropyParams& p, Checker& checker) {
  checker.Rank(p.features, 2).SameShapeAndDtype(p.labels, p.features);
  checker.SameDtype(p.loss, p.features);
  if (!checker.ok()) return;
  CheckShape(p.loss, {p.features.dim(0)}, checker);
  checker.SameShapeAndDtype(p.backprop, p.features);
}

Plan PlanSoftmaxCrossEntropy(const SoftmaxCrossEntropyParams& p, const Product&) {
  const Rows x(p.features, 1), y(p.labels, 1), slopes(p.backprop, 1);
  const Elements losses(p.loss, 0);
  const int64_t rows = p.features.dim(0), width = p.features.dim(1);
  const LoadRow<double> load = LoaderOf<double>(p.features.dtype());
  const StoreRow<double> store = StorerOf<double>(p.features.dtype());
  const Place from = p.features.place, labels = p.labels.place, backprop = p.backprop.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(rows, width, [&](int64_t i) {
              LossRow row(width);
              double value = 0;
              if (width > 0) {
                load(x.At(from(buffers), i), x.step, width, row.x.data());
                load(y.At(labels(buffers), i), y.step, width, row.y.data());
                value = row.Loss();
                store(row.powers.data(), width, slopes.At(backprop(buffers), i), slopes.step);
              }
              losses.Set(buffers, i, value);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
