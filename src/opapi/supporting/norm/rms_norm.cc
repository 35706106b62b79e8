// SPDX-License-Identifier: Apache-2.0
// RmsNorm, also of a sum: groups of elements, each divided by the root of its mean square.
#include <cmath>

#include "generated/norm.h"
#include "kernels/rows/rows.h"
#include "supporting/norm/gradient.h"
#include "supporting/norm/grouping.h"

namespace openaclnn::supporting {
namespace {

/// Tensors that are left out are absent: the second term and the sum.
struct RmsTensors {
  const Tensor &x, &addend, &gamma, &y, &rstd, &sum;
};

void CheckRms(const RmsTensors& of, Checker& checker) {
  const Tensor &x = of.x, &gamma = of.gamma;
  const Shape shape = ShapeOf(x), last = ShapeOf(gamma);
  const bool fits = gamma.rank() > 0 && last.size() <= shape.size() &&
                    std::equal(last.begin(), last.end(), shape.end() - last.size());
  checker.That(fits, [&] {
    return Concat("gamma shape is ", ShapeText(gamma), ", expected the last dimensions of ",
                  x.name(), ", ", ShapeText(x));
  });
  CheckShape(of.y, shape, checker);
  for (const Tensor* like : {&of.addend, &of.sum}) {
    if (like->present()) CheckShape(*like, shape, checker);
  }
  if (!checker.ok()) return;
  const int64_t groups = Grouping::Layers(x, gamma.rank()).rows;
  checker.That(of.rstd.count() == groups, [&] {
    return Concat(of.rstd.name(), " shape is ", ShapeText(of.rstd), ", expected ", groups,
                  " elements");
  });
}

Plan MakeRms(const RmsTensors& of, double epsilon) {
  const Grouping groups = Grouping::Layers(of.x, of.gamma.rank());
  const GroupedView x(of.x, groups), addend(of.addend, groups), y(of.y, groups),
      sum(of.sum, groups);
  const Elements gamma(of.gamma, 1), rstd(of.rstd, 0);
  const bool adds = of.addend.present();
  const int64_t rows = groups.rows, width = groups.width;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> weights = gamma.All(buffers);
            const std::vector<double> zeros(weights.size());
            ParallelRows(rows, width, [&](int64_t row) {
              std::vector<double> values = x.Load(buffers, row);
              if (adds) {
                const std::vector<double> more = addend.Load(buffers, row);
                Kernels().sum.join(more.data(), width, values.data());
                sum.Store(buffers, row, values);
              }
              const double square =
                  Kernels().distances(values.data(), 0, width) / static_cast<double>(width);
              const double scale = 1 / std::sqrt(square + epsilon);
              rstd.Set(buffers, row, scale);
              Kernels().scale(values.data(), 0, scale, width);
              Kernels().weigh(values.data(), weights.data(), zeros.data(), width);
              y.Store(buffers, row, values);
            });
            return {};
          }};
}

RmsTensors TensorsOf(const RmsNormParams& p) {
  return {p.x, NoTensor(), p.gamma, p.yOut, p.rstdOut, NoTensor()};
}

RmsTensors TensorsOf(const AddRmsNormParams& p) {
  return {p.x1, p.x2, p.gamma, p.yOut, p.rstdOut, p.xOut};
}

}  // namespace

void CheckRmsNorm(const RmsNormParams& p, Checker& checker) { CheckRms(TensorsOf(p), checker); }

Plan PlanRmsNorm(const RmsNormParams& p, const Product&) {
  return MakeRms(TensorsOf(p), p.epsilon);
}

void CheckAddRmsNorm(const AddRmsNormParams& p, Checker& checker) {
  CheckRms(TensorsOf(p), checker);
}

Plan PlanAddRmsNorm(const AddRmsNormParams& p, const Product&) {
  return MakeRms(TensorsOf(p), p.epsilon);
}

}  // namespace openaclnn::supporting
