// SPDX-License-Identifier: Apache-2.0
// LayerNorm, GroupNorm, BatchNorm and their gradients: groups of elements, each made to have mean 0
// and variance 1, then scaled and moved.
//
// y = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)
#include <cmath>

#include "generated/norm.h"
#include "kernels/rows/rows.h"
#include "supporting/norm/checks.h"
#include "supporting/norm/forward.h"
#include "supporting/norm/gradient.h"
#include "supporting/norm/grouping.h"

namespace openaclnn::supporting {
namespace {

void CheckMask(const std::vector<bool>& mask, const BackwardTensors& of, Checker& checker) {
  CheckAsked(mask, {&of.grad_x, &of.grad_weight, &of.grad_bias}, checker);
}

void CheckNormalizedShape(const IntList& shape, const Operand& x, Checker& checker) {
  const auto dims = shape.values();
  bool fits = !dims.empty() && dims.size() <= x.rank();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    fits = dims[i] == x.dim(static_cast<uint32_t>(x.rank() - dims.size() + i));
  }
  checker.That(fits, [&] {
    return Concat("normalizedShape value is ",
                  ShapeText(dims.data(), static_cast<uint32_t>(dims.size())),
                  ", expected the last dimensions of ", x.name(), ", ", ShapeText(x));
  });
}

Grouping LayersOf(const IntList& shape, const Operand& x) {
  return Grouping::Layers(x, static_cast<uint32_t>(shape.values().size()));
}

template <class P>
void CheckGroups(const P& p, const Operand& x, Checker& checker) {
  checker.RankBetween(x, 2, kMaxRank);
  if (!checker.ok()) return;
  const std::optional<int64_t> places = ElementCount(x.tensor().dims + 2, x.rank() - 2);
  checker.That(p.N == x.dim(0) && p.C == x.dim(1) && places == p.HxW, [&] {
    return Concat(x.name(), " shape is ", ShapeText(x), ", expected N = ", p.N, ", C = ", p.C,
                  ", HxW = ", p.HxW);
  });
  checker.That(p.group > 0 && p.C % p.group == 0, [&] {
    return Concat("group value is ", p.group, ", expected a divisor of C, ", p.C);
  });
}

ForwardTensors TensorsOf(const LayerNormParams& p) {
  return {p.input, p.weightOptional, p.biasOptional, p.out, p.meanOutOptional, p.rstdOutOptional};
}

ForwardTensors TensorsOf(const GroupNormParams& p) {
  return {p.self, p.gamma, p.beta, p.out, p.meanOut, p.rstdOut};
}

ForwardTensors TensorsOf(const BatchNormParams& p) {
  return {p.input, p.weight, p.bias, p.output, p.saveMean, p.saveInvstd};
}

BackwardTensors TensorsOf(const LayerNormGradientParams& p) {
  return {p.gradOut, p.input, p.weightOptional, p.gradInputOut, p.gradWeightOut, p.gradBiasOut};
}

BackwardTensors TensorsOf(const GroupNormGradientParams& p) {
  return {p.gradOut, p.input, p.gamma, p.gradInput, p.gradGammaOut, p.gradBetaOut};
}

BackwardTensors TensorsOf(const BatchNormGradientParams& p) {
  return {p.gradOut, p.input, p.weight, p.gradInput, p.gradWeight, p.gradBias};
}

}  // namespace

void CheckLayerNorm(const LayerNormParams& p, Checker& checker) {
  CheckNormalizedShape(p.normalizedShape, p.input, checker);
  CheckShape(p.out, ShapeOf(p.input), checker);
  if (!checker.ok()) return;
  const Grouping groups = LayersOf(p.normalizedShape, p.input);
  CheckWeights(groups, {p.weightOptional, p.biasOptional}, checker);
  CheckMoments(groups, {p.meanOutOptional, p.rstdOutOptional}, checker);
}

Plan PlanLayerNorm(const LayerNormParams& p, const Product&) {
  const bool has_moments = p.meanOutOptional.present() || p.rstdOutOptional.present();
  if (p.out.empty() && !has_moments) return Nothing();  // of any number of rows
  return MakeForward(Forward(LayersOf(p.normalizedShape, p.input), TensorsOf(p), p.eps));
}

void CheckLayerNormGradient(const LayerNormGradientParams& p, Checker& checker) {
  const Tensor& x = p.input;
  CheckMask(p.outputMask, TensorsOf(p), checker);
  CheckNormalizedShape(p.normalizedShape, x, checker);
  CheckShape(p.gradOut, ShapeOf(x), checker);
  if (!checker.ok()) return;
  if (p.gradInputOut.present()) CheckShape(p.gradInputOut, ShapeOf(x), checker);
  const Grouping groups = LayersOf(p.normalizedShape, x);
  CheckMoments(groups, {p.mean, p.rstd}, checker);
  CheckWeights(groups, {p.weightOptional, p.biasOptional, p.gradWeightOut, p.gradBiasOut}, checker);
}

Plan PlanLayerNormGradient(const LayerNormGradientParams& p, const Product&) {
  const Grouping groups = LayersOf(p.normalizedShape, p.input);
  if (groups.width == 0) return Nothing();  // of any number of rows, and no weights
  return MakeBackward(Backward(groups, TensorsOf(p), p.outputMask), p.mean, p.rstd);
}

void CheckGroupNorm(const GroupNormParams& p, Checker& checker) {
  CheckGroups(p, p.self, checker);
  CheckShape(p.out, ShapeOf(p.self), checker);
  if (!checker.ok()) return;
  const Grouping groups = Grouping::Groups(p.self, p.group);
  CheckWeights(groups, {p.gamma, p.beta}, checker);
  CheckMoments(groups, {p.meanOut, p.rstdOut}, checker);
}

Plan PlanGroupNorm(const GroupNormParams& p, const Product&) {
  return MakeForward(Forward(Grouping::Groups(p.self, p.group), TensorsOf(p), p.eps));
}

void CheckGroupNormGradient(const GroupNormGradientParams& p, Checker& checker) {
  const Tensor& x = p.input;
  CheckMask(p.outputMask, TensorsOf(p), checker);
  CheckGroups(p, x, checker);
  CheckShape(p.gradOut, ShapeOf(x), checker);
  if (!checker.ok()) return;
  if (p.gradInput.present()) CheckShape(p.gradInput, ShapeOf(x), checker);
  const Grouping groups = Grouping::Groups(x, p.group);
  CheckMoments(groups, {p.mean, p.rstd}, checker);
  CheckWeights(groups, {p.gamma, p.gradGammaOut, p.gradBetaOut}, checker);
}

Plan PlanGroupNormGradient(const GroupNormGradientParams& p, const Product&) {
  const Grouping groups = Grouping::Groups(p.input, p.group);
  return MakeBackward(Backward(groups, TensorsOf(p), p.outputMask), p.mean, p.rstd);
}

void CheckBatchNorm(const BatchNormParams& p, Checker& checker) {
  const Tensor& x = p.input;
  checker.RankBetween(x, 2, kMaxRank);
  CheckShape(p.output, ShapeOf(x), checker);
  if (!checker.ok()) return;
  const Grouping groups = Grouping::Channels(x);
  CheckWeights(groups, {p.weight, p.bias, p.runningMean, p.runningVar}, checker);
  for (const Tensor* save : {&p.saveMean, &p.saveInvstd}) {
    if (p.training || !save->empty()) CheckWeights(groups, {*save}, checker);
  }
  for (const Tensor* running : {&p.runningMean, &p.runningVar}) {
    checker.That(p.training || running->present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
      return Concat(running->name(), " value is null, expected a tensor unless training");
    });
  }
}

// In training the running moments move toward those of the batch by momentum.
Plan PlanBatchNorm(const BatchNormParams& p, const Product&) {
  const Forward forward(Grouping::Channels(p.input), TensorsOf(p), p.eps);
  const RunningMoments running{Elements(p.runningMean, 0), Elements(p.runningVar, 1), p.momentum};
  if (!p.training) {
    return {forward.bytes(), [=](const Buffers& buffers) -> Status {
              const RowMoments given(running.mean.All(buffers), running.variance.All(buffers));
              forward.RunBy(buffers, given);
              forward.Store(buffers, given);
              return {};
            }};
  }
  const int64_t channels = p.input.dim(1);
  return {forward.bytes(), [=](const Buffers& buffers) -> Status {
            const RowMoments own = forward.Run(buffers);
            forward.Store(buffers, own);
            const auto n = static_cast<double>(forward.width());
            for (int64_t c = 0; c < channels; ++c) running.Move(buffers, c, own[c], n);
            return {};
          }};
}

void CheckBatchNormGradient(const BatchNormGradientParams& p, Checker& checker) {
  const Tensor& x = p.input;
  CheckMask(p.outputMask, TensorsOf(p), checker);
  checker.RankBetween(x, 2, kMaxRank);
  CheckShape(p.gradOut, ShapeOf(x), checker);
  if (!checker.ok()) return;
  if (p.gradInput.present()) CheckShape(p.gradInput, ShapeOf(x), checker);
  const Grouping groups = Grouping::Channels(x);
  CheckWeights(groups, {p.weight, p.gradWeight, p.gradBias}, checker);
  for (const Tensor* moment :
       {p.training ? &p.saveMean : &p.runningMean, p.training ? &p.saveInvstd : &p.runningVar}) {
    checker.That(moment->present(), ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat(moment->name(), " value is null, expected a tensor"); });
    CheckCount(*moment, groups.weights, checker);
  }
}

Plan PlanBatchNormGradient(const BatchNormGradientParams& p, const Product&) {
  const Backward backward(Grouping::Channels(p.input), TensorsOf(p), p.outputMask);
  const bool training = p.training;
  const Statistics statistics = training ? Statistics::kMoments : Statistics::kGiven;
  const double eps = p.eps;
  const Elements mean(training ? p.saveMean : p.runningMean, 0);
  const Elements scale(training ? p.saveInvstd : p.runningVar, 1);
  return {backward.bytes(), [=](const Buffers& buffers) -> Status {
            backward.Run(buffers, statistics, [&](int64_t row) {
              const double own = scale.Get(buffers, row);
              return std::pair(mean.Get(buffers, row), training ? own : 1 / std::sqrt(own + eps));
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
