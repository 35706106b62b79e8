// SPDX-License-Identifier: Apache-2.0
// Steps of training: gradients unscaled and checked, the scale of losses, and AdamW.
#include <atomic>
#include <cmath>

#include "kernels/rows.h"
#include "supporting/normalize.h"
#include "supporting/operators.h"

namespace openaclnn::supporting {
namespace {

void CheckOne(const Operand& operand, Checker& checker) {
  checker.That(operand.count() == 1, [&] {
    return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected one element");
  });
}

}  // namespace

// scaledGrads, foundInf, inScale: what is not finite sets foundInf.
void CheckUnscale(const Params& p, Checker& checker) {
  const size_t grads = p.lists[0].size;
  for (size_t i = 0; i <= grads + 1; ++i) {
    checker.That(Contains(kRealTypes, p.tensors[i].dtype()),
                 [&] { return DtypeIs(p.tensors[i], DtypesText(kRealTypes)); });
  }
  CheckOne(p.tensors[grads], checker);
  CheckOne(p.tensors[grads + 1], checker);
}

Plan PlanUnscale(const Params& p) {
  const size_t grads = p.lists[0].size;
  struct Gradient {
    Walk walk;
    LoadRow<double> load;
    StoreRow<double> store;
  };
  std::vector<Gradient> gradients;
  for (size_t i = 0; i < grads; ++i) {
    const Operand& grad = p.tensors[i];
    const Shape shape = ShapeOf(grad);
    gradients.push_back({Walk(shape, {Steps(shape, grad)}), LoaderOf<double>(grad.dtype()),
                         StorerOf<double>(grad.dtype())});
  }
  const Elements found(p.tensors[grads], 0), scale(p.tensors[grads + 1], 1);
  return {0, [=](const Buffers& buffers) -> Status {
            const double factor = scale.Get(buffers, grads + 1, 0);
            std::atomic<bool> finite = true;
            for (size_t i = 0; i < grads; ++i) {
              const Gradient& one = gradients[i];
              one.walk.ForRuns({buffers.As<std::byte>(i)},
                               [&](const Walk::Pointers& at, int64_t n) {
                                 double values[Walk::kRun];
                                 one.load(at[0], one.walk.step(0), n, values);
                                 for (int64_t k = 0; k < n; ++k) {
                                   if (!std::isfinite(values[k])) finite = false;
                                   values[k] *= factor;
                                 }
                                 one.store(values, n, at[0], one.walk.step(0));
                               });
            }
            if (!finite) found.Set(buffers, grads, 0, 1);
            return {};
          }};
}

// currentScale, growthTracker, foundInf; updatedScale, updatedGrowthTracker.
void CheckUpdateScale(const Params& p, Checker& checker) {
  for (const Operand& tensor : p.tensors) CheckOne(tensor, checker);
}

Plan PlanUpdateScale(const Params& p) {
  const Elements scale(p.tensors[0], 0), tracker(p.tensors[1], 0), found(p.tensors[2], 0),
      new_scale(p.tensors[3], 0), new_tracker(p.tensors[4], 0);
  const double growth = p.reals[0], backoff = p.reals[1];
  const auto interval = static_cast<double>(p.integers[0]);
  return {0, [=](const Buffers& buffers) -> Status {
            double value = scale.Get(buffers, 0, 0), steps = tracker.Get(buffers, 1, 0) + 1;
            const bool overflow = found.Get(buffers, 2, 0) != 0;
            if (overflow) value *= backoff;
            if (!overflow && steps == interval && std::isfinite(static_cast<float>(value * growth)))
              value *= growth;
            if (overflow || steps == interval) steps = 0;
            new_scale.Set(buffers, 3, 0, value);
            new_tracker.Set(buffers, 4, 0, steps);
            return {};
          }};
}

// var, m, v, maxGradNorm in place, grad, step, which counts from 0.
void CheckAdamW(const Params& p, Checker& checker) {
  const bool amsgrad = p.integers[0] != 0;
  for (const size_t i : {size_t{1}, size_t{2}, size_t{4}}) {
    CheckShape(p.tensors[i], ShapeOf(p.tensors[0]), checker);
  }
  checker.That(!amsgrad || p.tensors[3].present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat(p.tensors[3].name(), " value is null, expected a tensor for amsgrad");
  });
  if (amsgrad) CheckShape(p.tensors[3], ShapeOf(p.tensors[0]), checker);
  CheckOne(p.tensors[5], checker);
}

Plan PlanAdamW(const Params& p) {
  const Elements var(p.tensors[0], 0), m(p.tensors[1], 0), v(p.tensors[2], 0), top(p.tensors[3], 0),
      grad(p.tensors[4], 0), step(p.tensors[5], 0);
  const double rate = p.reals[0], beta1 = p.reals[1], beta2 = p.reals[2], decay = p.reals[3],
               eps = p.reals[4];
  const bool amsgrad = p.integers[0] != 0, maximize = p.integers[1] != 0;
  const int64_t count = *p.tensors[0].count();
  return {0, [=](const Buffers& buffers) -> Status {
            const double t = step.Get(buffers, 5, 0) + 1;
            const double size = rate / (1 - std::pow(beta1, t));
            const double correction = std::sqrt(1 - std::pow(beta2, t));
            ParallelRows(count, 16, [&](int64_t i) {
              const double own = grad.Get(buffers, 4, i), g = maximize ? -own : own;
              const double first = beta1 * m.Get(buffers, 1, i) + (1 - beta1) * g;
              double second = beta2 * v.Get(buffers, 2, i) + (1 - beta2) * g * g;
              m.Set(buffers, 1, i, first);
              v.Set(buffers, 2, i, second);
              if (amsgrad) {
                second = std::max(second, top.Get(buffers, 3, i));
                top.Set(buffers, 3, i, second);
              }
              const double old = var.Get(buffers, 0, i) * (1 - rate * decay);
              var.Set(buffers, 0, i, old - size * first / (std::sqrt(second) / correction + eps));
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
