// SPDX-License-Identifier: Apache-2.0
// NLLLoss and its gradient: loss_i = -weight[t_i] * x[i, t_i] for targets t_i that are not ignored.
#include <algorithm>

#include "kernels/strided.h"
#include "supporting/operators.h"
#include "supporting/reduction.h"

namespace openaclnn::supporting {
namespace {

enum Reduction { kNone, kMean, kSum };

/// A matrix, vector or scalar that is read and written one element at a time.
class View {
 public:
  explicit View(const Operand& operand)
      : offsets_(operand, operand.rank()),
        bytes_(static_cast<int64_t>(FindDataType(operand.dtype())->bytes)),
        load_(LoaderOf<double>(operand.dtype())),
        load_integer_(LoaderOf<int64_t>(operand.dtype())),
        store_(StorerOf<double>(operand.dtype())) {}

  double Get(std::byte* origin, int64_t i) const {
    double value = 0;
    load_(origin + offsets_(i) * bytes_, 0, 1, &value);
    return value;
  }
  int64_t GetInteger(std::byte* origin, int64_t i) const {
    int64_t value = 0;
    load_integer_(origin + offsets_(i) * bytes_, 0, 1, &value);
    return value;
  }
  void Set(std::byte* origin, int64_t i, double value) const {
    store_(&value, 1, origin + offsets_(i) * bytes_, 0);
  }

 private:
  Offsets offsets_;
  int64_t bytes_;
  LoadRow<double> load_;
  LoadRow<int64_t> load_integer_;
  StoreRow<double> store_;
};

struct Sizes {
  int64_t rows, classes, area, reduction, ignored;
  /// Where the score of a class is.
  int64_t Score(int64_t row, int64_t of) const {
    return (row / area * classes + of) * area + row % area;
  }
};

/// self is (C), (N, C) or (N, C, H, W).
Sizes SizesOf(const Params& p, const Operand& self) {
  const bool planes = self.rank() == 4;
  const int64_t area = planes ? self.dim(2) * self.dim(3) : 1;
  return {(self.rank() > 1 ? self.dim(0) : 1) * area, planes ? self.dim(1) : self.last_dim(),
          std::max<int64_t>(area, 1), p.integers[0], p.integers[1]};
}

Shape TargetShape(const Operand& self) {
  if (self.rank() == 4) return {self.dim(0), self.dim(2), self.dim(3)};
  return {self.dim(0)};
}

Status CheckTargets(const View& target, std::byte* data, const Sizes& sizes) {
  for (int64_t i = 0; i < sizes.rows; ++i) {
    const int64_t value = target.GetInteger(data, i);
    if (value == sizes.ignored || (value >= 0 && value < sizes.classes)) continue;
    return Status(507035, Concat("target value ", i, " is ", value, ", expected 0 <= value < ",
                                 sizes.classes, ", or ", sizes.ignored, ", which is ignored"));
  }
  return {};
}

void CheckOperands(const Params& p, const Operand& self, const Operand& target,
                   const Operand& weight, Checker& checker) {
  const Sizes sizes = SizesOf(p, self);
  checker.That(self.rank() == 1 || self.rank() == 2 || self.rank() == 4, [&] {
    return Concat(self.name(), " shape is ", ShapeText(self), ", expected 1, 2 or 4 dimensions");
  });
  for (const Operand* real : {&self, &weight}) {
    checker.That(Contains(kRealTypes, real->dtype()),
                 [&] { return DtypeIs(*real, DtypesText(kRealTypes)); });
  }
  checker.That(Contains(kIntegerTypes, target.dtype()),
               [&] { return DtypeIs(target, DtypesText(kIntegerTypes)); });
  if (self.rank() > 1) CheckShape(target, TargetShape(self), checker);
  checker.That(target.count() == sizes.rows, [&] {
    return Concat("target shape is ", ShapeText(target), ", expected ", sizes.rows, " elements");
  });
  CheckShape(weight, {sizes.classes}, checker);
  checker.That(sizes.reduction >= kNone && sizes.reduction <= kSum, [&] {
    return Concat("reduction value is ", sizes.reduction,
                  ", expected none (0), mean (1) or sum (2)");
  });
}

void CheckLossShape(const Params& p, const Operand& loss, const Operand& self, Checker& checker) {
  const Sizes sizes = SizesOf(p, self);
  const bool each = sizes.reduction == kNone && self.rank() > 1;
  if (each) return CheckShape(loss, TargetShape(self), checker);
  checker.That(loss.count() == 1, [&] {
    return Concat(loss.name(), " shape is ", ShapeText(loss), ", expected one element");
  });
}

}  // namespace

// self, target, weight; out, totalWeightOut.
void CheckNllLoss(const Params& p, Checker& checker) {
  CheckOperands(p, p.tensors[0], p.tensors[1], p.tensors[2], checker);
  if (!checker.ok()) return;
  CheckLossShape(p, p.tensors[3], p.tensors[0], checker);
  const Operand& total = p.tensors[4];
  checker.That(total.count() == 1, [&] {
    return Concat("totalWeightOut shape is ", ShapeText(total), ", expected one element");
  });
}

Plan PlanNllLoss(const Params& p) {
  const Sizes sizes = SizesOf(p, p.tensors[0]);
  const View self(p.tensors[0]), target(p.tensors[1]), weight(p.tensors[2]), out(p.tensors[3]),
      total(p.tensors[4]);
  return {0, [=](const Buffers& buffers) -> Status {
            const auto at = [&](size_t i) { return buffers.As<std::byte>(i); };
            Status status = CheckTargets(target, at(1), sizes);
            if (!status.ok()) return status;
            TreeSum<double> losses, weights;
            for (int64_t i = 0; i < sizes.rows; ++i) {
              const int64_t t = target.GetInteger(at(1), i);
              const double w = t == sizes.ignored ? 0 : weight.Get(at(2), t);
              const double loss = t == sizes.ignored ? 0 : -w * self.Get(at(0), sizes.Score(i, t));
              if (sizes.reduction == kNone) out.Set(at(3), i, loss);
              losses.Add(loss);
              weights.Add(w);
            }
            const double sum = losses.Total(), divisor = weights.Total();
            if (sizes.reduction == kSum) out.Set(at(3), 0, sum);
            if (sizes.reduction == kMean) out.Set(at(3), 0, sum / divisor);
            total.Set(at(4), 0, sizes.reduction == kNone ? 0 : divisor);
            return {};
          }};
}

// gradOutput, self, target, weight, totalWeight; out.
void CheckNllLossGradient(const Params& p, Checker& checker) {
  CheckOperands(p, p.tensors[1], p.tensors[2], p.tensors[3], checker);
  if (!checker.ok()) return;
  CheckLossShape(p, p.tensors[0], p.tensors[1], checker);
  checker.That(p.tensors[4].count() == 1, [&] {
    return Concat("totalWeight shape is ", ShapeText(p.tensors[4]), ", expected one element");
  });
  CheckShape(p.out(), ShapeOf(p.tensors[1]), checker);
}

Plan PlanNllLossGradient(const Params& p) {
  const Sizes sizes = SizesOf(p, p.tensors[1]);
  const View grad(p.tensors[0]), target(p.tensors[2]), weight(p.tensors[3]), total(p.tensors[4]),
      out(p.tensors[5]);
  const bool each = sizes.reduction == kNone && p.tensors[1].rank() > 1;
  return {0, [=](const Buffers& buffers) -> Status {
            const auto at = [&](size_t i) { return buffers.As<std::byte>(i); };
            Status status = CheckTargets(target, at(2), sizes);
            if (!status.ok()) return status;
            const double divisor = sizes.reduction == kMean ? total.Get(at(4), 0) : 1;
            for (int64_t i = 0; i < sizes.rows; ++i) {
              const int64_t t = target.GetInteger(at(2), i);
              for (int64_t c = 0; c < sizes.classes; ++c) {
                out.Set(at(5), sizes.Score(i, c), 0);
              }
              if (t == sizes.ignored) continue;
              const double g = grad.Get(at(0), each ? i : 0);
              out.Set(at(5), sizes.Score(i, t), -weight.Get(at(3), t) * g / divisor);
            }
            return {};
          }};
}

}  // namespace openaclnn::supporting
