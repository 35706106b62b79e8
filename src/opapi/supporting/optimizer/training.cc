// SPDX-License-Identifier: Apache-2.0
// Steps of training: gradients unscaled and checked, the scale of losses, AdamW and Adam.
#include <atomic>
#include <cmath>

#include "generated/optimizer.h"
#include "kernels/move/broadcast.h"
#include "supporting/elements.h"
#include "supporting/optimizer/adamw.h"

namespace openaclnn::supporting {
namespace {

// The views of AdamW: the parameter, its moments, the gradient, and with AMSGrad the largest second
// moment.
constexpr size_t kAdamWViews = 5;

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

// A value that is not finite sets foundInf.
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
                bool all = true;
                for (int64_t k = 0; k < n; ++k) {
                  all &= std::isfinite(values[k]);
                  values[k] *= factor;
                }
                if (!all) finite = false;
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

namespace {

/// The tensors of a step; `top` is absent without AMSGrad, and written only where its role is that.
struct AdamWTensors {
  const Tensor &var, &m, &v, &grad, &top;
};

/// shared(buffers) is what all elements of the step share.
template <class Shared>
Plan MakeAdamW(const AdamWTensors& of, const Shared& shared) {
  std::vector<const Tensor*> tensors = {&of.var, &of.m, &of.v, &of.grad};
  if (of.top.present()) tensors.push_back(&of.top);
  struct View {
    Place place;
    bool is_output;
    LoadRow<double> load;
    StoreRow<double> store;
  };
  const Shape shape = ShapeOf(of.var);
  std::vector<View> views;
  std::vector<Steps> steps;
  for (const Tensor* each : tensors) {
    steps.emplace_back(shape, *each);
    views.push_back({each->place, each->role() == OPENACLNN_OUTPUT, LoaderOf<double>(each->dtype()),
                     StorerOf<double>(each->dtype())});
  }
  const Walk walk(shape, steps);
  const auto run = OPENACLNN_TARGET_SELECT(kAdamWKernels)->step;
  return {0, [=](const Buffers& buffers) -> Status {
            const AdamWStep step = shared(buffers);
            Walk::Pointers origins{};
            for (size_t k = 0; k < views.size(); ++k) origins[k] = views[k].place(buffers);
            walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
              double rows[kAdamWViews][Walk::kRun];
              for (size_t k = 0; k < views.size(); ++k) {
                views[k].load(at[k], walk.step(k), n, rows[k]);
              }
              const bool amsgrad = views.size() == kAdamWViews;
              run(step, n, {rows[0], rows[1], rows[2], amsgrad ? rows[4] : nullptr, rows[3]});
              for (size_t k = 0; k < views.size(); ++k) {
                if (views[k].is_output) views[k].store(rows[k], n, at[k], walk.step(k));
              }
            });
            return {};
          }};
}

}  // namespace

// The step counts from 0.
Plan PlanAdamW(const AdamWParams& p, const Product&) {
  const Elements step(p.step, 0);
  const double rate = p.lr, beta1 = p.beta1, beta2 = p.beta2, decay = p.weightDecay, eps = p.eps;
  const double sign = p.maximize ? -1 : 1;
  const Tensor& top = p.amsgrad ? p.maxGradNormOptionalRef : NoTensor();
  return MakeAdamW({p.varRef, p.mRef, p.vRef, p.grad, top}, [=](const Buffers& buffers) {
    const double t = step.Get(buffers, 0) + 1;
    return AdamWStep{.beta1 = beta1,
                     .beta2 = beta2,
                     .eps = eps,
                     .size = rate / (1 - std::pow(beta1, t)),
                     .correction = std::sqrt(1 - std::pow(beta2, t)),
                     .keep = 1 - rate * decay,
                     .sign = sign};
  });
}

void CheckApplyAdamW(const ApplyAdamWParams& p, Checker& checker) {
  const Tensor& top = p.maxGradNormOptional;
  for (const Tensor* tensor : {&p.mRef, &p.vRef, &p.grad}) {
    CheckShape(*tensor, ShapeOf(p.varRef), checker);
  }
  checker.That(!p.amsgrad || top.present(), ACLNN_ERR_PARAM_NULLPTR,
               [&] { return Concat(top.name(), " value is null, expected a tensor for amsgrad"); });
  if (p.amsgrad) CheckShape(top, ShapeOf(p.varRef), checker);
  for (const Tensor* one :
       {&p.beta1Power, &p.beta2Power, &p.lr, &p.weightDecay, &p.beta1, &p.beta2, &p.eps}) {
    CheckOne(*one, checker);
  }
}

Plan PlanApplyAdamW(const ApplyAdamWParams& p, const Product&) {
  const Elements power1(p.beta1Power, 0), power2(p.beta2Power, 0), rate(p.lr, 0),
      decay(p.weightDecay, 0), beta1(p.beta1, 0), beta2(p.beta2, 0), eps(p.eps, 0);
  const double sign = p.maximize ? -1 : 1;
  const Tensor& top = p.amsgrad ? p.maxGradNormOptional : NoTensor();
  return MakeAdamW({p.varRef, p.mRef, p.vRef, p.grad, top}, [=](const Buffers& buffers) {
    const double b1 = beta1.Get(buffers, 0), b2 = beta2.Get(buffers, 0), lr = rate.Get(buffers, 0);
    return AdamWStep{.beta1 = b1,
                     .beta2 = b2,
                     .eps = eps.Get(buffers, 0),
                     .size = lr / (1 - power1.Get(buffers, 0) * b1),
                     .correction = std::sqrt(1 - power2.Get(buffers, 0) * b2),
                     .keep = 1 - lr * decay.Get(buffers, 0),
                     .sign = sign};
  });
}

void CheckApplyAdam(const ApplyAdamParams& p, Checker& checker) {
  for (const Tensor* tensor : {&p.mRef, &p.vRef, &p.grad}) {
    CheckShape(*tensor, ShapeOf(p.varRef), checker);
  }
  for (const Tensor* one : {&p.beta1Power, &p.beta2Power, &p.lr, &p.beta1, &p.beta2, &p.epsilon}) {
    CheckOne(*one, checker);
  }
}

Plan PlanApplyAdam(const ApplyAdamParams& p, const Product&) {
  const Elements power1(p.beta1Power, 0), power2(p.beta2Power, 0), rate(p.lr, 0), beta1(p.beta1, 0),
      beta2(p.beta2, 0), eps(p.epsilon, 0);
  const bool nesterov = p.useNesterov;
  return MakeAdamW({p.varRef, p.mRef, p.vRef, p.grad, NoTensor()}, [=](const Buffers& buffers) {
    const double size =
        rate.Get(buffers, 0) * std::sqrt(1 - power2.Get(buffers, 0)) / (1 - power1.Get(buffers, 0));
    return AdamWStep{.beta1 = beta1.Get(buffers, 0),
                     .beta2 = beta2.Get(buffers, 0),
                     .eps = eps.Get(buffers, 0),
                     .size = size,
                     .correction = 1,
                     .keep = 1,
                     .sign = 1,
                     .nesterov = nesterov};
  });
}

}  // namespace openaclnn::supporting
