// SPDX-License-Identifier: Apache-2.0
// NLLLoss and its gradient: loss_i = -weight[t_i] * x[i, t_i] for targets t_i that are not ignored.
#include <algorithm>
#include <cstring>

#include "generated/loss.h"
#include "kernels/move/broadcast.h"
#include "kernels/move/strided.h"
#include "supporting/loss/reduction.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// A tensor that is read and written one element at a time.
class View {
 public:
  explicit View(const Tensor& tensor)
      : place_(tensor.place),
        offsets_(tensor, tensor.rank()),
        bytes_(BytesOf(tensor)),
        load_(LoaderOf<double>(tensor.dtype())),
        load_integer_(LoaderOf<int64_t>(tensor.dtype())),
        store_(StorerOf<double>(tensor.dtype())) {}

  double Get(const Buffers& buffers, int64_t i) const {
    double value = 0;
    load_(At(buffers, i), 0, 1, &value);
    return value;
  }
  int64_t GetInteger(const Buffers& buffers, int64_t i) const {
    int64_t value = 0;
    load_integer_(At(buffers, i), 0, 1, &value);
    return value;
  }
  void Set(const Buffers& buffers, int64_t i, double value) const {
    store_(&value, 1, At(buffers, i), 0);
  }

 private:
  std::byte* At(const Buffers& buffers, int64_t i) const {
    return place_(buffers) + offsets_(i) * bytes_;
  }

  Place place_;
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
template <class LossParams>
Sizes SizesOf(const LossParams& p) {
  const Tensor& self = p.self;
  const bool planes = self.rank() == 4;
  // Where there are no classes, or no rows, it may be any.
  const int64_t area = planes ? WrappingProduct(self.dim(2), self.dim(3)) : 1;
  return {WrappingProduct(self.rank() > 1 ? self.dim(0) : 1, area),
          planes ? self.dim(1) : self.last_dim(), std::max<int64_t>(area, 1), p.reduction,
          p.ignoreIndex};
}

Shape TargetShape(const Operand& self) {
  if (self.rank() == 4) return {self.dim(0), self.dim(2), self.dim(3)};
  return {self.dim(0)};
}

Status CheckTargets(const View& target, const Buffers& buffers, const Sizes& sizes) {
  for (int64_t i = 0; i < sizes.rows; ++i) {
    const int64_t value = target.GetInteger(buffers, i);
    if (value == sizes.ignored || (value >= 0 && value < sizes.classes)) continue;
    return Status(507035, Concat("target value ", i, " is ", value, ", expected 0 <= value < ",
                                 sizes.classes, ", or ", sizes.ignored, ", which is ignored"));
  }
  return {};
}

template <class LossParams>
void CheckOperands(const LossParams& p, Checker& checker) {
  const Tensor &self = p.self, &target = p.target, &weight = p.weight;
  const Sizes sizes = SizesOf(p);
  checker.That(self.rank() == 1 || self.rank() == 2 || self.rank() == 4, [&] {
    return Concat(self.name(), " shape is ", ShapeText(self), ", expected 1, 2 or 4 dimensions");
  });
  for (const Tensor* real : {&self, &weight}) {
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
}

void CheckLossShape(const Operand& loss, const Operand& self, int64_t reduction, Checker& checker) {
  const bool each = reduction == kNone && self.rank() > 1;
  if (each) return CheckShape(loss, TargetShape(self), checker);
  checker.That(loss.count() == 1, [&] {
    return Concat(loss.name(), " shape is ", ShapeText(loss), ", expected one element");
  });
}

}  // namespace

void CheckNllLoss(const NllLossParams& p, Checker& checker) {
  CheckOperands(p, checker);
  if (!checker.ok()) return;
  CheckLossShape(p.out, p.self, p.reduction, checker);
  const Operand& total = p.totalWeightOut;
  checker.That(total.count() == 1, [&] {
    return Concat("totalWeightOut shape is ", ShapeText(total), ", expected one element");
  });
}

Plan PlanNllLoss(const NllLossParams& p, const Product&) {
  const Sizes sizes = SizesOf(p);
  const View self(p.self), target(p.target), weight(p.weight), out(p.out), total(p.totalWeightOut);
  return {0, [=](const Buffers& buffers) -> Status {
            Status status = CheckTargets(target, buffers, sizes);
            if (!status.ok()) return status;
            TreeSum<double> losses, weights;
            for (int64_t i = 0; i < sizes.rows; ++i) {
              const int64_t t = target.GetInteger(buffers, i);
              const double w = t == sizes.ignored ? 0 : weight.Get(buffers, t);
              const double loss =
                  t == sizes.ignored ? 0 : -w * self.Get(buffers, sizes.Score(i, t));
              if (sizes.reduction == kNone) out.Set(buffers, i, loss);
              losses.Add(loss);
              weights.Add(w);
            }
            const double sum = losses.Total(), divisor = weights.Total();
            if (sizes.reduction == kSum) out.Set(buffers, 0, sum);
            if (sizes.reduction == kMean) out.Set(buffers, 0, sum / divisor);
            total.Set(buffers, 0, sizes.reduction == kNone ? 0 : divisor);
            return {};
          }};
}

void CheckNllLossGradient(const NllLossGradientParams& p, Checker& checker) {
  CheckOperands(p, checker);
  if (!checker.ok()) return;
  CheckLossShape(p.gradOutput, p.self, p.reduction, checker);
  checker.That(p.totalWeight.count() == 1, [&] {
    return Concat("totalWeight shape is ", ShapeText(p.totalWeight), ", expected one element");
  });
  CheckShape(p.out, ShapeOf(p.self), checker);
}

namespace {

/// Writes zeros to a view: all of it in blocks that are worth a thread.
class Zeros {
 public:
  explicit Zeros(const Tensor& tensor)
      : place_(tensor.place),
        walk_(ShapeOf(tensor), std::vector<Steps>{StepsOf(tensor)}),
        bytes_(static_cast<size_t>(BytesOf(tensor))),
        store_(StorerOf<double>(tensor.dtype())) {}

  void Write(const Buffers& buffers) const {
    walk_.ForRuns({place_(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
      if (walk_.step(0) == static_cast<int64_t>(bytes_)) {
        std::memset(at[0], 0, static_cast<size_t>(n) * bytes_);  // 0 is zero in every type
        return;
      }
      constexpr double kZeros[Walk::kRun] = {};
      store_(kZeros, n, at[0], walk_.step(0));
    });
  }

 private:
  static Steps StepsOf(const Tensor& tensor) { return Steps(ShapeOf(tensor), tensor); }

  Place place_;
  Walk walk_;
  size_t bytes_;
  StoreRow<double> store_;
};

}  // namespace

Plan PlanNllLossGradient(const NllLossGradientParams& p, const Product&) {
  const Sizes sizes = SizesOf(p);
  const View grad(p.gradOutput), target(p.target), weight(p.weight), total(p.totalWeight),
      out(p.out);
  const Zeros zeros(p.out);
  const bool each = sizes.reduction == kNone && p.self.rank() > 1;
  return {0, [=](const Buffers& buffers) -> Status {
            Status status = CheckTargets(target, buffers, sizes);
            if (!status.ok()) return status;
            const double divisor = sizes.reduction == kMean ? total.Get(buffers, 0) : 1;
            zeros.Write(buffers);
            for (int64_t i = 0; i < sizes.rows; ++i) {
              const int64_t t = target.GetInteger(buffers, i);
              if (t == sizes.ignored) continue;
              const double g = grad.Get(buffers, each ? i : 0);
              out.Set(buffers, sizes.Score(i, t), -weight.Get(buffers, t) * g / divisor);
            }
            return {};
          }};
}

}  // namespace openaclnn::supporting
