// SPDX-License-Identifier: Apache-2.0
// GroupNorm with swish, and its gradient.
#include "generated/norm.h"
#include "supporting/norm/checks.h"
#include "supporting/norm/forward.h"

namespace openaclnn::supporting {
namespace {

void CheckChannels(const Tensor& x, const char* name, int64_t groups, Tensors like_x,
                   Checker& checker) {
  checker.RankBetween(x, 2, kMaxRank);
  for (const Tensor& tensor : like_x) CheckShape(tensor, ShapeOf(x), checker);
  if (!checker.ok()) return;
  checker.That(groups > 0 && x.dim(1) % groups == 0, [&] {
    return Concat(name, " value is ", groups, ", expected a divisor of dimension 1 of ", x.name(),
                  ", ", x.dim(1));
  });
}

void CheckForward(const ForwardTensors& of, const char* name, int64_t count, Checker& checker) {
  CheckChannels(of.x, name, count, {of.y}, checker);
  if (!checker.ok()) return;
  const Grouping groups = Grouping::Groups(of.x, count);
  CheckWeights(groups, {of.weight, of.bias}, checker);
  CheckMoments(groups, {of.mean, of.rstd}, checker);
}

Plan MakeSwish(const ForwardTensors& of, int64_t count, double eps, std::optional<double> scale) {
  Fusion fusion;
  fusion.swish = scale;
  return MakeForward(Forward(Grouping::Groups(of.x, count), of, eps, std::move(fusion)));
}

ForwardTensors TensorsOf(const GroupNormSiluParams& p) {
  return {p.self, p.gamma, p.beta, p.out, p.meanOut, p.rstdOut};
}

ForwardTensors TensorsOf(const GroupNormSwishParams& p) {
  return {p.x, p.gamma, p.beta, p.yOut, p.meanOut, p.rstdOut};
}

}  // namespace

void CheckGroupNormSilu(const GroupNormSiluParams& p, Checker& checker) {
  CheckForward(TensorsOf(p), "group", p.group, checker);
}

Plan PlanGroupNormSilu(const GroupNormSiluParams& p, const Product&) {
  return MakeSwish(TensorsOf(p), p.group, p.eps, 1);
}

void CheckGroupNormSwish(const GroupNormSwishParams& p, Checker& checker) {
  CheckForward(TensorsOf(p), "numGroups", p.numGroups, checker);
}

Plan PlanGroupNormSwish(const GroupNormSwishParams& p, const Product&) {
  const auto scale = p.activateSwish ? std::optional(p.swishScale) : std::nullopt;
  return MakeSwish(TensorsOf(p), p.numGroups, p.eps, scale);
}

void CheckGroupNormSwishGradient(const GroupNormSwishGradientParams& p, Checker& checker) {
  CheckChannels(p.x, "numGroups", p.numGroups, {p.dy, p.dxOut}, checker);
  if (!checker.ok()) return;
  const Grouping groups = Grouping::Groups(p.x, p.numGroups);
  CheckWeights(groups, {p.gamma, p.beta}, checker);
  if (p.dgammaIsRequire) CheckWeights(groups, {p.dgammaOut}, checker);
  if (p.dbetaIsRequire) CheckWeights(groups, {p.dbetaOut}, checker);
  CheckMoments(groups, {p.mean, p.rstd}, checker);
}

Plan PlanGroupNormSwishGradient(const GroupNormSwishGradientParams& p, const Product&) {
  Fusion fusion;
  fusion.swish = p.swishScale;
  const BackwardTensors tensors{p.dy, p.x, p.gamma, p.dxOut, p.dgammaOut, p.dbetaOut, p.beta};
  const Backward backward(Grouping::Groups(p.x, p.numGroups), tensors,
                          {true, p.dgammaIsRequire, p.dbetaIsRequire}, std::move(fusion));
  return MakeBackward(backward, p.mean, p.rstd);
}

}  // namespace openaclnn::supporting
