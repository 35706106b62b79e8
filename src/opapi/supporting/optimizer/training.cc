// SPDX-License-Identifier: Apache-2.0
// Steps of training: gradients unscaled and checked, the scale of losses, and AdamW.
#include <atomic>
#include <cmath>

#include "generated/optimizer.h"
#include "kernels/rows.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {
namespace {

void CheckOne(const Operand& operand, Checker& checker) {
  checker.That(operand.count() == 1, [&] {
    return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected one element");
  });
}

}  // namespace

void CheckUnscale(const UnscaleParams& p, Checker& checker) {
  for (const Tensor& tensor : p.tensors) {
    checker.That(Contains(kRealTypes, tensor.dtype()),
                 [&] { return DtypeIs(tensor, DtypesText(kRealTypes)); });
  }
  CheckOne(p.foundInf, checker);
  CheckOne(p.inScale, checker);
}

// What is not finite sets foundInf.
Plan PlanUnscale(const UnscaleParams& p, const Product&) {
  struct Gradient {
    Place place;
    Walk walk;
    LoadRow<double> load;
    StoreRow<double> store;
  };
  std::vector<Gradient> gradients;
  for (const Tensor* grad : p.scaledGrads.tensors) {
    const Shape shape = ShapeOf(*grad);
    gradients.push_back({grad->place, Walk(shape, {Steps(shape, *grad)}),
                         LoaderOf<double>(grad->dtype()), StorerOf<double>(grad->dtype())});
  }
  const Elements found(p.foundInf, 0), scale(p.inScale, 1);
  return {0, [=](const Buffers& buffers) -> Status {
            const double factor = scale.Get(buffers, 0);
            std::atomic<bool> finite = true;
            for (const Gradient& one : gradients) {
              one.walk.ForRuns({one.place(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
                double values[Walk::kRun];
                one.load(at[0], one.walk.step(0), n, values);
                for (int64_t k = 0; k < n; ++k) {
                  if (!std::isfinite(values[k])) finite = false;
                  values[k] *= factor;
                }
                one.store(values, n, at[0], one.walk.step(0));
              });
            }
            if (!finite) found.Set(buffers, 0, 1);
            return {};
          }};
}

void CheckUpdateScale(const UpdateScaleParams& p, Checker& checker) {
  for (const Tensor& tensor : p.tensors) CheckOne(tensor, checker);
}

Plan PlanUpdateScale(const UpdateScaleParams& p, const Product&) {
  const Elements scale(p.currentScale, 0), tracker(p.growthTracker, 0), found(p.foundInf, 0),
      new_scale(p.updatedScale, 0), new_tracker(p.updatedGrowthTracker, 0);
  const double growth = p.growthFactor, backoff = p.backoffFactor;
  const auto interval = static_cast<double>(p.growthInterval);
  return {0, [=](const Buffers& buffers) -> Status {
            double value = scale.Get(buffers, 0), steps = tracker.Get(buffers, 0) + 1;
            const bool overflow = found.Get(buffers, 0) != 0;
            if (overflow) value *= backoff;
            if (!overflow && steps == interval && std::isfinite(static_cast<float>(value * growth)))
              value *= growth;
            if (overflow || steps == interval) steps = 0;
            new_scale.Set(buffers, 0, value);
            new_tracker.Set(buffers, 0, steps);
            return {};
          }};
}

void CheckAdamW(const AdamWParams& p, Checker& checker) {
  const Tensor& top = p.maxGradNormOptionalRef;
  for (const Tensor* tensor : {&p.mRef, &p.vRef, &p.grad}) {
    CheckShape(*tensor, ShapeOf(p.varRef), checker);
  }
  checker.That(!p.amsgrad || top.present(), ACLNN_ERR_PARAM_NULLPTR,
               [&] { return Concat(top.name(), " value is null, expected a tensor for amsgrad"); });
  if (p.amsgrad) CheckShape(top, ShapeOf(p.varRef), checker);
  CheckOne(p.step, checker);
}

// The step counts from 0.
Plan PlanAdamW(const AdamWParams& p, const Product&) {
  const Elements var(p.varRef, 0), m(p.mRef, 0), v(p.vRef, 0), top(p.maxGradNormOptionalRef, 0),
      grad(p.grad, 0), step(p.step, 0);
  const double rate = p.lr, beta1 = p.beta1, beta2 = p.beta2, decay = p.weightDecay, eps = p.eps;
  const bool amsgrad = p.amsgrad, maximize = p.maximize;
  const int64_t count = *p.varRef.count();
  return {0, [=](const Buffers& buffers) -> Status {
            const double t = step.Get(buffers, 0) + 1;
            const double size = rate / (1 - std::pow(beta1, t));
            const double correction = std::sqrt(1 - std::pow(beta2, t));
            ParallelRows(count, 16, [&](int64_t i) {
              const double own = grad.Get(buffers, i), g = maximize ? -own : own;
              const double first = beta1 * m.Get(buffers, i) + (1 - beta1) * g;
              double second = beta2 * v.Get(buffers, i) + (1 - beta2) * g * g;
              m.Set(buffers, i, first);
              v.Set(buffers, i, second);
              if (amsgrad) {
                second = std::max(second, top.Get(buffers, i));
                top.Set(buffers, i, second);
              }
              const double old = var.Get(buffers, i) * (1 - rate * decay);
              var.Set(buffers, i, old - size * first / (std::sqrt(second) / correction + eps));
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
