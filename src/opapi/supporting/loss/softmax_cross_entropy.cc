// SPDX-License-Identifier: Apache-2.0
// SoftmaxCrossEntropyWithLogits: of each row the loss, and the gradient by its scores.
//
// loss = -sum y * (x - max - log sum exp(x - max)), backprop = exp(x - max) / sum exp(x - max) - y
#include <algorithm>
#include <cmath>
#include <vector>

#include "generated/loss.h"
#include "kernels/rows/rows.h"
#include "kernels/rows/softmax_rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/along.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {
namespace {

/// Rows of a tensor in double, in pieces as the kernels take them.
struct LossRow {
  explicit LossRow(int64_t width) : x(Size(width)), y(Size(width)), powers(Size(width)) {}

  static size_t Size(int64_t width) { return static_cast<size_t>(width); }

  /// The sum over pieces of what of(first, n) makes of each.
  template <class Of>
  double Sum(const Of& of) const {
    const int64_t width = std::ssize(x);
    return SumParts(0, DivideUp(width, kSoftmaxPiece), [&](int64_t piece) {
      const int64_t first = piece * kSoftmaxPiece;
      return of(first, std::min(kSoftmaxPiece, width - first));
    });
  }

  /// Leaves the gradient in `powers`.
  double Loss() {
    const SoftmaxKernels<double>& kernels = *OPENACLNN_TARGET_SELECT(kDoubleSoftmax);
    double max = -HUGE_VAL;
    for (int64_t i = 0; i < std::ssize(x); i += kSoftmaxPiece) {
      max = std::max(max, kernels.largest(&x[Size(i)], std::min(kSoftmaxPiece, std::ssize(x) - i)));
    }
    const double sum = Sum(
        [&](int64_t i, int64_t n) { return kernels.exp(&x[Size(i)], max, n, &powers[Size(i)]); });
    const double more = std::log(sum), factor = 1 / sum;
    const double loss = Sum([&](int64_t i, int64_t n) {
      kernels.subtract(&x[Size(i)], max, more, n, &x[Size(i)]);
      return kernels.products(&x[Size(i)], &y[Size(i)], n);
    });
    for (size_t i = 0; i < x.size(); ++i) powers[i] = powers[i] * factor - y[i];
    return -loss;
  }

  std::vector<double> x, y, powers;
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
