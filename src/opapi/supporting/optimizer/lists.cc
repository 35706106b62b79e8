// SPDX-License-Identifier: Apache-2.0
// AllFinite, FusedSgd and FusedAdam: steps of training over lists of tensors. In double.
#include <array>
#include <atomic>
#include <cmath>

#include "generated/optimizer.h"
#include "kernels/move/broadcast.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

void CheckReal(const Tensor& tensor, Checker& checker) {
  checker.That(Contains(kRealTypes, tensor.dtype()),
               [&] { return DtypeIs(tensor, DtypesText(kRealTypes)); });
}

void CheckOne(const Operand& operand, Checker& checker) {
  checker.That(operand.count() == 1, [&] {
    return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected one element");
  });
}

/// A view that is walked with others, in double.
struct View {
  explicit View(const Tensor& tensor)
      : place(tensor.place),
        load(LoaderOf<double>(tensor.dtype())),
        store(StorerOf<double>(tensor.dtype())) {}

  Place place;
  LoadRow<double> load;
  StoreRow<double> store;
};

struct SgdStep {
  double decay, momentum, rate, kept;
  bool nesterov, maximize, first;

  /// Moves one parameter; `sum` is its running sum of gradients.
  void Move(double gradient, double* parameter, double* sum) const {
    const double slope = (maximize ? -gradient : gradient) + decay * *parameter;
    *sum = first ? slope : momentum * *sum + kept * slope;
    *parameter -= rate * (nesterov ? slope + momentum * *sum : *sum);
  }
};

Plan PlanSgd(const Tensor& parameter, const Tensor& gradient, const Tensor& sum,
             const Elements& scale, const SgdStep& step) {
  const Shape shape = ShapeOf(parameter);
  const Walk walk(shape, {Steps(shape, parameter), Steps(shape, gradient), Steps(shape, sum)});
  const View x(parameter), g(gradient), m(sum);
  return {0, [=](const Buffers& buffers) -> Status {
            const double divisor = scale.Get(buffers, 0);
            const Walk::Pointers origins = {x.place(buffers), g.place(buffers), m.place(buffers)};
            walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
              double parameters[Walk::kRun], gradients[Walk::kRun], sums[Walk::kRun];
              x.load(at[0], walk.step(0), n, parameters);
              g.load(at[1], walk.step(1), n, gradients);
              if (step.first) std::fill_n(sums, n, 0.0);
              if (!step.first) m.load(at[2], walk.step(2), n, sums);
              for (int64_t i = 0; i < n; ++i) {
                step.Move(gradients[i] / divisor, parameters + i, sums + i);
              }
              x.store(parameters, n, at[0], walk.step(0));
              m.store(sums, n, at[2], walk.step(2));
            });
            return {};
          }};
}

struct AdamStep {
  double rate, beta1, beta2, decay, eps;
  bool amsgrad, maximize;

  /// Corrections for the steps up to this one.
  struct Corrections {
    double first, second;
  };
  Corrections At(double step) const {
    return {1 - std::pow(beta1, step), std::sqrt(1 - std::pow(beta2, step))};
  }

  /// Moves one parameter; `rows` are it, the running means of gradients and of squares, and the
  /// largest of the latter.
  void Move(const Corrections& by, double gradient, const std::array<double*, 4>& rows) const {
    const double slope = (maximize ? -gradient : gradient) + decay * *rows[0];
    *rows[1] = beta1 * *rows[1] + (1 - beta1) * slope;
    *rows[2] = beta2 * *rows[2] + (1 - beta2) * slope * slope;
    double square = *rows[2];
    if (amsgrad) square = *rows[3] = IsNan(square) ? square : std::max(*rows[3], square);
    *rows[0] -= rate / by.first * *rows[1] / (std::sqrt(square) / by.second + eps);
  }
};

/// The tensors of one parameter's step; `top` counts with AMSGrad alone.
struct AdamTensors {
  const Tensor &parameter, &mean, &square, &top, &gradient, &step;
};

Plan PlanAdam(const AdamTensors& of, const Elements& scale, const AdamStep& how) {
  const Shape shape = ShapeOf(of.parameter);
  std::vector<View> views;
  std::vector<Steps> steps;
  for (const Tensor* each : {&of.parameter, &of.mean, &of.square, &of.top, &of.gradient}) {
    views.emplace_back(*each);
    steps.emplace_back(shape, *each);
  }
  const Walk walk(shape, steps);
  const Elements step(of.step, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            const double divisor = scale.Get(buffers, 0);
            const AdamStep::Corrections by = how.At(step.Get(buffers, 0) + 1);
            Walk::Pointers origins{};
            for (size_t k = 0; k < views.size(); ++k) origins[k] = views[k].place(buffers);
            walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
              double rows[5][Walk::kRun];
              for (size_t k = 0; k < views.size(); ++k) {
                if (k == 3 && !how.amsgrad) continue;
                views[k].load(at[k], walk.step(k), n, rows[k]);
              }
              for (int64_t i = 0; i < n; ++i) {
                how.Move(by, rows[4][i] / divisor,
                         {rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i});
              }
              for (size_t k = 0; k < (how.amsgrad ? 4 : 3); ++k) {
                views[k].store(rows[k], n, at[k], walk.step(k));
              }
            });
            return {};
          }};
}

}  // namespace

void CheckAllFinite(const AllFiniteParams& p, Checker& checker) {
  for (const Tensor* each : p.gradient.tensors) CheckReal(*each, checker);
  checker.That(p.out.dtype() == ACL_BOOL, [&] { return DtypeIs(p.out, "BOOL"); });
  CheckOne(p.out, checker);
}

Plan PlanAllFinite(const AllFiniteParams& p, const Product&) {
  std::vector<std::pair<View, Walk>> views;
  for (const Tensor* each : p.gradient.tensors) {
    const Shape shape = ShapeOf(*each);
    views.emplace_back(View(*each), Walk(shape, {Steps(shape, *each)}));
  }
  return {0,
          [views = std::move(views), out = Elements(p.out, 0)](const Buffers& buffers) -> Status {
            std::atomic<bool> finite = true;
            for (const auto& [view, walk] : views) {
              walk.ForRuns({view.place(buffers)}, [&, load = view.load, step = walk.step(0)](
                                                      const Walk::Pointers& at, int64_t n) {
                double values[Walk::kRun];
                load(at[0], step, n, values);
                bool all = true;
                for (int64_t i = 0; i < n; ++i) all &= std::isfinite(values[i]);
                if (!all) finite = false;
              });
            }
            if (!finite) out.Set(buffers, 0, 1);
            return {};
          }};
}

void CheckFusedSgd(const FusedSgdParams& p, Checker& checker) {
  for (const GivenList* list : {&p.grads, &p.momentumBufferListRef}) {
    checker.That(list->size == p.paramsRef.size, [&] {
      return Concat(list->name, " size is ", list->size, ", expected that of paramsRef, ",
                    p.paramsRef.size);
    });
  }
  for (size_t i = 0; checker.ok() && i < p.paramsRef.size; ++i) {
    CheckShape(p.grads[i], ShapeOf(p.paramsRef[i]), checker);
    CheckShape(p.momentumBufferListRef[i], ShapeOf(p.paramsRef[i]), checker);
  }
  if (p.gradScale.present()) CheckOne(p.gradScale, checker);
}

Plan PlanFusedSgd(const FusedSgdParams& p, const Product&) {
  const SgdStep step = {
      p.weightDecay, p.momentum, p.lr,         1 - static_cast<double>(p.dampening),
      p.nesterov,    p.maximize, p.isFirstStep};
  const Elements scale(p.gradScale, 1);
  std::vector<Plan> plans;
  for (size_t i = 0; i < p.paramsRef.size; ++i) {
    if (p.paramsRef[i].empty()) continue;
    plans.push_back(PlanSgd(p.paramsRef[i], p.grads[i], p.momentumBufferListRef[i], scale, step));
  }
  return InTurn(std::move(plans));
}

void CheckFusedAdam(const FusedAdamParams& p, Checker& checker) {
  for (const GivenList* list :
       {&p.grads, &p.expAvgsRef, &p.expAvgSqsRef, &p.maxExpAvgSqsRef, &p.stateSteps}) {
    checker.That(list->size == p.paramsRef.size, [&] {
      return Concat(list->name, " size is ", list->size, ", expected that of paramsRef, ",
                    p.paramsRef.size);
    });
  }
  for (size_t i = 0; checker.ok() && i < p.paramsRef.size; ++i) {
    for (const GivenList* list : {&p.grads, &p.expAvgsRef, &p.expAvgSqsRef, &p.maxExpAvgSqsRef}) {
      CheckShape((*list)[i], ShapeOf(p.paramsRef[i]), checker);
    }
    CheckOne(p.stateSteps[i], checker);
  }
  for (const Tensor* each : {&p.gradScale, &p.foundInf}) {
    if (each->present()) CheckOne(*each, checker);
  }
}

Plan PlanFusedAdam(const FusedAdamParams& p, const Product&) {
  const AdamStep how = {p.lr, p.beta1, p.beta2, p.weightDecay, p.eps, p.amsgrad, p.maximize};
  const Elements scale(p.gradScale, 1), found(p.foundInf, 0);
  std::vector<Plan> plans;
  for (size_t i = 0; i < p.paramsRef.size; ++i) {
    if (p.paramsRef[i].empty()) continue;
    const AdamTensors of = {p.paramsRef[i],       p.expAvgsRef[i], p.expAvgSqsRef[i],
                            p.maxExpAvgSqsRef[i], p.grads[i],      p.stateSteps[i]};
    plans.push_back(PlanAdam(of, scale, how));
  }
  return {0, [found, steps = InTurn(std::move(plans))](const Buffers& buffers) -> Status {
            return found.Get(buffers, 0) != 0 ? Status() : steps.work(buffers);
          }};
}

}  // namespace openaclnn::supporting
