// SPDX-License-Identifier: Apache-2.0
// LayerNorm of sums, and their gradients: AddLayerNorm and DeepNorm.
#include "generated/norm.h"
#include "supporting/norm/checks.h"
#include "supporting/norm/forward.h"

namespace openaclnn::supporting {
namespace {

/// The operands of a LayerNorm of factor * x + addend + bias. Absent: the bias, and in a gradient
/// all that only the forward writes.
struct SumTensors {
  const Tensor &x, &addend, &bias, &gamma, &mean, &rstd;
};

Grouping GroupsOf(const SumTensors& of) { return Grouping::Layers(of.x, of.gamma.rank()); }

void CheckSum(const SumTensors& of, Tensors like_x, Tensors like_gamma, Checker& checker) {
  CheckGamma(of.gamma, of.x, checker);
  CheckShape(of.addend, ShapeOf(of.x), checker);
  for (const Tensor& tensor : like_x) {
    if (tensor.present()) CheckShape(tensor, ShapeOf(of.x), checker);
  }
  for (const Tensor& tensor : like_gamma) CheckShape(tensor, ShapeOf(of.gamma), checker);
  if (checker.ok()) CheckMoments(GroupsOf(of), {of.mean, of.rstd}, checker);
}

/// The bias has x's shape, or gamma's.
void CheckBias(const SumTensors& of, Checker& checker) {
  if (!checker.ok() || !of.bias.present()) return;
  const Shape shape = ShapeOf(of.bias);
  checker.That(shape == ShapeOf(of.x) || shape == ShapeOf(of.gamma), [&] {
    return Concat(of.bias.name(), " shape is ", ShapeText(of.bias), ", expected that of ",
                  of.x.name(), ", ", ShapeText(of.x), ", or of ", of.gamma.name(), ", ",
                  ShapeText(of.gamma));
  });
}

Fusion FusionOf(const SumTensors& of, double factor) {
  const Grouping groups = GroupsOf(of);
  Fusion fusion;
  fusion.factor = factor;
  fusion.terms.push_back(Term::OfGroups(of.addend, groups));
  if (of.bias.present()) {
    fusion.terms.push_back(ShapeOf(of.bias) == ShapeOf(of.x) ? Term::OfGroups(of.bias, groups)
                                                             : Term::OfElements(of.bias));
  }
  return fusion;
}

/// No weights: any number of rows is nothing to do.
Plan MakeSumBackward(const SumTensors& of, const BackwardTensors& tensors, Fusion fusion) {
  const Grouping groups = GroupsOf(of);
  if (groups.width == 0) return Nothing();
  const Backward backward(groups, tensors, {true, true, true}, std::move(fusion));
  return MakeBackward(backward, of.mean, of.rstd);
}

SumTensors SumOf(const AddLayerNormParams& p) {
  return {p.x1, p.x2, p.biasOptional, p.gamma, p.meanOut, p.rstdOut};
}
SumTensors SumOf(const AddLayerNormGradientParams& p) {
  return {p.x1, p.x2, NoTensor(), p.gamma, p.mean, p.rstd};
}
SumTensors SumOf(const DeepNormParams& p) {
  return {p.x, p.gx, NoTensor(), p.gamma, p.meanOut, p.rstdOut};
}
SumTensors SumOf(const DeepNormGradientParams& p) {
  return {p.x, p.gx, NoTensor(), p.gamma, p.mean, p.rstd};
}

}  // namespace

void CheckAddLayerNorm(const AddLayerNormParams& p, Checker& checker) {
  CheckSum(SumOf(p), {p.yOut}, {p.beta}, checker);
  CheckBias(SumOf(p), checker);
  if (p.additionalOutput) CheckShape(p.xOut, ShapeOf(p.x1), checker);
}

Plan PlanAddLayerNorm(const AddLayerNormParams& p, const Product&) {
  const SumTensors sum = SumOf(p);
  const Grouping groups = GroupsOf(sum);
  Fusion fusion = FusionOf(sum, 1);
  if (p.additionalOutput) fusion.sum.emplace(p.xOut, groups);
  const ForwardTensors tensors{p.x1, p.gamma, p.beta, p.yOut, p.meanOut, p.rstdOut};
  return MakeForward(Forward(groups, tensors, p.epsilon, std::move(fusion)));
}

void CheckAddLayerNormGradient(const AddLayerNormGradientParams& p, Checker& checker) {
  CheckSum(SumOf(p), {p.dy, p.dsumOptional, p.dxOut}, {p.dgammaOut, p.dbetaOut}, checker);
}

Plan PlanAddLayerNormGradient(const AddLayerNormGradientParams& p, const Product&) {
  const SumTensors sum = SumOf(p);
  Fusion fusion = FusionOf(sum, 1);
  if (p.dsumOptional.present()) fusion.later = Term::OfGroups(p.dsumOptional, GroupsOf(sum));
  return MakeSumBackward(sum, {p.dy, p.x1, p.gamma, p.dxOut, p.dgammaOut, p.dbetaOut},
                         std::move(fusion));
}

void CheckDeepNorm(const DeepNormParams& p, Checker& checker) {
  CheckSum(SumOf(p), {p.yOut}, {p.beta}, checker);
}

Plan PlanDeepNorm(const DeepNormParams& p, const Product&) {
  const SumTensors sum = SumOf(p);
  const ForwardTensors tensors{p.x, p.gamma, p.beta, p.yOut, p.meanOut, p.rstdOut};
  return MakeForward(Forward(GroupsOf(sum), tensors, p.epsilon, FusionOf(sum, p.alpha)));
}

void CheckDeepNormGradient(const DeepNormGradientParams& p, Checker& checker) {
  CheckSum(SumOf(p), {p.dy, p.dxOut, p.dgxOut}, {p.dbetaOut, p.dgammaOut}, checker);
}

Plan PlanDeepNormGradient(const DeepNormGradientParams& p, const Product&) {
  const SumTensors sum = SumOf(p);
  Fusion fusion = FusionOf(sum, p.alpha);
  fusion.by_operand.emplace(p.dxOut, GroupsOf(sum));
  return MakeSumBackward(sum, {p.dy, p.x, p.gamma, p.dgxOut, p.dgammaOut, p.dbetaOut},
                         std::move(fusion));
}

}  // namespace openaclnn::supporting
