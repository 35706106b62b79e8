// SPDX-License-Identifier: Apache-2.0
// RmsNorm, also of a sum or with gamma + 1, and its gradient: groups of elements, each divided by
// the root of its mean square.
#include <cmath>
#include <utility>

#include "generated/norm.h"
#include "kernels/rows/rows.h"
#include "supporting/in_turn.h"
#include "supporting/norm/checks.h"
#include "supporting/norm/gradient.h"
#include "supporting/norm/grouping.h"

namespace openaclnn::supporting {
namespace {

/// Tensors that are left out are absent: the second term, the sum, and the copy of y as y stores
/// it.
struct RmsTensors {
  const Tensor &x, &addend, &gamma, &y, &rstd, &sum;
  const Tensor& copy = NoTensor();
};

/// rstd has an element for each group of x.
void CheckScales(const Tensor& rstd, const Tensor& x, const Tensor& gamma, Checker& checker) {
  const int64_t groups = Grouping::Layers(x, gamma.rank()).rows;
  checker.That(rstd.count() == groups, [&] {
    return Concat(rstd.name(), " shape is ", ShapeText(rstd), ", expected ", groups, " elements");
  });
}

void CheckRms(const RmsTensors& of, Checker& checker) {
  const Shape shape = ShapeOf(of.x);
  CheckGamma(of.gamma, of.x, checker);
  CheckShape(of.y, shape, checker);
  for (const Tensor* like : {&of.addend, &of.sum, &of.copy}) {
    if (like->present()) CheckShape(*like, shape, checker);
  }
  if (checker.ok()) CheckScales(of.rstd, of.x, of.gamma, checker);
}

/// y = x * rstd * (gamma + more)
Plan MakeRms(const RmsTensors& of, double epsilon, double more = 0) {
  const Grouping groups = Grouping::Layers(of.x, of.gamma.rank());
  ScratchParts parts;
  const GroupedView x(of.x, groups, &parts), addend(of.addend, groups, &parts), y(of.y, groups),
      sum(of.sum, groups), copy(of.copy, groups);
  const Elements gamma(of.gamma, 1), rstd(of.rstd, 0);
  const bool adds = of.addend.present(), copies = of.copy.present();
  const bool floats = !adds && !copies && x.floats() && y.floats();
  const int64_t rows = groups.rows, width = groups.width;
  return {parts.bytes(), [=](const Buffers& buffers) -> Status {
            x.Take(buffers);
            addend.Take(buffers);
            std::vector<double> weights = gamma.All(buffers);
            if (more != 0) {
              for (double& weight : weights) weight += more;
            }
            const std::vector<double> zeros(weights.size());
            const auto scale_of = [&](int64_t row, double squares) {
              const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
              rstd.Set(buffers, row, scale);
              return scale;
            };
            ParallelRowsIn<Rooms>(rows, width, [&](int64_t row, Rooms* rooms) {
              if (floats) {
                const float* const values = x.LoadFloats(buffers, row, &rooms->x);
                const double scale = scale_of(row, DoubleRows().float_distances(values, 0, width));
                y.PutFloats(buffers, row, &rooms->result, [&](float* to) {
                  const NormalRow<double> part{values, 0, scale, weights.data()};
                  RowsOfFloats().normalize(part, zeros.data(), width, y.narrow(), to);
                });
                return;
              }
              std::vector<double> values = x.Load(buffers, row);
              if (adds) {
                const std::vector<double> more = addend.Load(buffers, row);
                DoubleRows().sum.join(more.data(), width, values.data());
                sum.Store(buffers, row, values);
              }
              const double scale = scale_of(row, DoubleRows().distances(values.data(), 0, width));
              DoubleRows().scale(values.data(), 0, scale, width);
              DoubleRows().weigh(values.data(), weights.data(), zeros.data(), width);
              y.Store(buffers, row, values);
              if (copies) copy.Store(buffers, row, y.Load(buffers, row));
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

// The result takes the place of the first term, and the sum that of the second.
RmsTensors TensorsOf(const InplaceAddRmsNormParams& p) {
  return {p.x1Ref, p.x2Ref, p.gamma, p.x1Ref, p.rstdOut, p.x2Ref};
}

RmsTensors TensorsOf(const GemmaRmsNormParams& p) {
  return {p.x, NoTensor(), p.gamma, p.yOut, p.rstdOut, NoTensor()};
}

RmsTensors TensorsOf(const AddRmsNormCastParams& p) {
  return {p.x1, p.x2, p.gamma, p.y2Out, p.rstdOut, p.xOut, p.y1Out};
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

void CheckInplaceAddRmsNorm(const InplaceAddRmsNormParams& p, Checker& checker) {
  CheckRms(TensorsOf(p), checker);
}

Plan PlanInplaceAddRmsNorm(const InplaceAddRmsNormParams& p, const Product&) {
  return MakeRms(TensorsOf(p), p.epsilon);
}

void CheckGemmaRmsNorm(const GemmaRmsNormParams& p, Checker& checker) {
  CheckRms(TensorsOf(p), checker);
}

Plan PlanGemmaRmsNorm(const GemmaRmsNormParams& p, const Product&) {
  return MakeRms(TensorsOf(p), p.epsilon, 1);
}

void CheckAddRmsNormCast(const AddRmsNormCastParams& p, Checker& checker) {
  CheckRms(TensorsOf(p), checker);
}

Plan PlanAddRmsNormCast(const AddRmsNormCastParams& p, const Product&) {
  return MakeRms(TensorsOf(p), p.epsilon);
}

void CheckRmsNormGradient(const RmsNormGradientParams& p, Checker& checker) {
  CheckShape(p.dy, ShapeOf(p.x), checker);
  CheckGamma(p.gamma, p.x, checker);
  CheckShape(p.dxOut, ShapeOf(p.x), checker);
  CheckShape(p.dgammaOut, ShapeOf(p.gamma), checker);
  if (checker.ok()) CheckScales(p.rstd, p.x, p.gamma, checker);
}

Plan PlanRmsNormGradient(const RmsNormGradientParams& p, const Product&) {
  const Grouping groups = Grouping::Layers(p.x, p.gamma.rank());
  if (groups.width == 0) return Nothing();  // any number of rows, and no weights
  const BackwardTensors tensors{p.dy, p.x, p.gamma, p.dxOut, p.dgammaOut, NoTensor()};
  const Backward backward(groups, tensors, {true, true, false});
  const Elements rstd(p.rstd, 1);
  return {backward.bytes(), [=](const Buffers& buffers) -> Status {
            backward.Run(buffers, Statistics::kScale,
                         [&](int64_t row) { return std::pair(0.0, rstd.Get(buffers, row)); });
            return {};
          }};
}

}  // namespace openaclnn::supporting
