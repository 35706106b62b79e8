// SPDX-License-Identifier: Apache-2.0
// Losses of one element each, left so, summed or averaged, and their gradients.
#include <algorithm>

#include "generated/loss.h"
#include "kernels/broadcast.h"
#include "supporting/elementwise.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

namespace {

enum Reduction { kNone, kMean, kSum };

constexpr size_t kMaxInputs = 5;

Shape CommonShape(const Params& p, Checker* checker) {
  Shape shape;
  for (const Operand& tensor : p.tensors) {
    if (tensor.role() == OPENACLNN_OUTPUT || !tensor.present()) continue;
    MeetShape(tensor, &shape, checker);
  }
  return shape;
}

/// The inputs in double, those that are left out as 1, and the formula's values.
struct Elements {
  explicit Elements(const Params& p) : loop(p.row.expression()->float64) {
    const Shape shape = CommonShape(p, nullptr);
    std::vector<Steps> steps;
    for (size_t i = 0; i < p.tensors.size(); ++i) {
      const Operand& tensor = p.tensors[i];
      if (tensor.role() == OPENACLNN_OUTPUT || !tensor.present()) continue;
      steps.emplace_back(shape, tensor);
      given.push_back(i);
      load[given.size() - 1] = LoaderOf<double>(tensor.dtype());
    }
    out = p.first_output().place;
    if (ShapeOf(p.first_output()) == shape) {
      steps.emplace_back(shape, p.first_output());
      has_out = true;
    }
    walk = Walk(shape, steps);
    for (size_t i = 0; i < p.values.size(); ++i) scalars[i] = p.values[i].number;
  }

  Walk::Pointers Origins(const Buffers& buffers) const {
    Walk::Pointers origins{};
    for (size_t k = 0; k < given.size(); ++k) origins[k] = buffers.As<std::byte>(given[k]);
    if (has_out) origins[given.size()] = out(buffers);
    return origins;
  }

  void Compute(const Walk::Pointers& at, int64_t n, double* values) const {
    double rows[kMaxInputs][Walk::kRun];
    const double* in[kMaxInputs];
    size_t loaded = 0;
    for (size_t i = 0; i < kMaxInputs; ++i) {
      if (loaded < given.size() && given[loaded] == i) {
        load[loaded](at[loaded], walk.step(loaded), n, rows[i]);
        ++loaded;
      } else {
        std::fill_n(rows[i], n, 1.0);
      }
      in[i] = rows[i];
    }
    loop(in, scalars.data(), n, values);
  }

  Expression::Loop<double> loop;
  Walk walk;
  std::vector<size_t> given;  // inputs by their place in the call
  std::array<LoadRow<double>, kMaxInputs> load{};
  Scalars<double> scalars{};
  Place out;
  bool has_out = false;  // the walk goes over the output too
};

void CheckReductionValue(int64_t reduction, Checker& checker) {
  checker.That(reduction >= kNone && reduction <= kSum, [&] {
    return Concat("reduction value is ", reduction, ", expected none (0), mean (1) or sum (2)");
  });
}

}  // namespace

void CheckLoss(const LossParams& p, Checker& checker) {
  CheckReductionValue(p.reduction, checker);
  const Shape shape = CommonShape(p, &checker);
  const Tensor& out = p.first_output();
  if (p.reduction == kNone) return CheckShape(out, shape, checker);
  checker.That(out.count() == 1,
               [&] { return Concat("out shape is ", ShapeText(out), ", expected one element"); });
}

Plan PlanLoss(const LossParams& p, const Product&) {
  const int64_t reduction = p.reduction;
  const Elements elements(p);
  const auto store = StorerOf<double>(p.first_output().dtype());
  if (reduction == kNone) {
    return {0, [=](const Buffers& buffers) -> Status {
              const Walk& walk = elements.walk;
              walk.ForRuns(elements.Origins(buffers), [&](const Walk::Pointers& at, int64_t n) {
                double values[Walk::kRun];
                elements.Compute(at, n, values);
                const size_t out = elements.given.size();
                store(values, n, at[out], walk.step(out));
              });
              return {};
            }};
  }
  return {0, [=](const Buffers& buffers) -> Status {
            TreeSum<double> sum;
            elements.walk.ForRunsInOrder(elements.Origins(buffers),
                                         [&](const Walk::Pointers& at, int64_t n) {
                                           double values[Walk::kRun];
                                           elements.Compute(at, n, values);
                                           for (int64_t i = 0; i < n; ++i) sum.Add(values[i]);
                                         });
            double total = sum.Total();
            if (reduction == kMean) total /= static_cast<double>(elements.walk.count());
            store(&total, 1, elements.out(buffers), 0);
            return {};
          }};
}

void CheckLossGradient(const LossGradientParams& p, Checker& checker) {
  CheckReductionValue(p.reduction, checker);
  const Shape shape = CommonShape(p, &checker);
  if (checker.ok()) CheckShape(p.first_output(), shape, checker);
}

Plan PlanLossGradient(const LossGradientParams& p, const Product&) {
  const Elements elements(p);
  const double divisor = p.reduction == kMean ? static_cast<double>(elements.walk.count()) : 1.0;
  const auto store = StorerOf<double>(p.first_output().dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            const Walk& walk = elements.walk;
            walk.ForRuns(elements.Origins(buffers), [&](const Walk::Pointers& at, int64_t n) {
              double values[Walk::kRun];
              elements.Compute(at, n, values);
              for (int64_t i = 0; i < n; ++i) values[i] /= divisor;
              const size_t out = elements.given.size();
              store(values, n, at[out], walk.step(out));
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
