// SPDX-License-Identifier: Apache-2.0
// The formulas of the losses of one element each, and of their gradients.
//
// a is the input, t the target, w and p the weights, which are 1 where they are left out, g the
// gradient of the loss, s the scalars.
#include "supporting/formula-inl.h"

namespace openaclnn::supporting::OPENACLNN_TARGET {

using formula::Exp;
using formula::Log;
using formula::Log1p;
using formula::Max;
using formula::Minus;
using formula::OfIntegers;
using formula::OfPairs;
using formula::Sigmoid;
using formula::Times;
using formula::Wide;

namespace {

/// |a - t| of integers, which wrap.
int64_t Distance(int64_t a, int64_t t) {
  const int64_t difference = Minus(a, t);
  return difference < 0 ? Minus(int64_t{0}, difference) : difference;
}

}  // namespace

namespace expressions {

const Expression kMse = OfPairs(
    pairs::kSquaredDifference,
    OfIntegers<2, [](int64_t a, int64_t t, auto) { return Times(Minus(a, t), Minus(a, t)); }>(
        Wide<2, [](auto a, auto t, auto) { return (a - t) * (a - t); }>()));
const Expression kMseGradient =
    Wide<3, [](auto g, auto a, auto t, auto) { return 2 * (a - t) * g; }>();
const Expression kL1 = OfIntegers<2, [](int64_t a, int64_t t, auto) { return Distance(a, t); }>(
    Wide<2, [](auto a, auto t, auto) { return std::abs(a - t); }>());
const Expression kL1Gradient =
    Wide<3, [](auto g, auto a, auto t, auto) { return (a > t) ? g
                                                      : a < t ? -g
                                                              : g * 0; }>();
// s: beta, the distance up to which it is a square.
const Expression kSmoothL1 = Wide<2, [](auto a, auto t, auto s) {
  const auto distance = std::abs(a - t);
  return distance < s[0] ? distance * distance / (2 * s[0]) : distance - s[0] / 2;
}>();
const Expression kSmoothL1Gradient = Wide<3, [](auto g, auto a, auto t, auto s) {
  const auto distance = a - t;
  return std::abs(distance) < s[0] ? distance / s[0] * g
         : (distance > 0)          ? g
         : distance < 0            ? -g
                                   : g * distance;
}>();
const Expression kBinaryCrossEntropy = Wide<3, 1, [](auto a, auto t, auto w, auto) {
  using T = decltype(a);
  return -w * (t * Max(Log(a), T{-100}) + (1 - t) * Max(Log1p(-a), T{-100}));
}>();
const Expression kBinaryCrossEntropyGradient = Wide<4, 1, [](auto g, auto a, auto t, auto w, auto) {
  return g * w * (a - t) / Max((1 - a) * a, decltype(a)(1e-12));
}>();
const Expression kLogitsCrossEntropy = Wide<4, 2, [](auto a, auto t, auto w, auto p, auto) {
  const auto softplus = Log1p(Exp(-std::abs(a))) + Max(-a, decltype(a){0});
  return w * ((1 - t) * a + ((p - 1) * t + 1) * softplus);
}>();
const Expression kLogitsCrossEntropyGradient =
    Wide<5, 2, [](auto g, auto a, auto t, auto w, auto p, auto) {
      return g * w * ((p * t + 1 - t) * Sigmoid(a) - p * t);
    }>();
// s: whether the target is a logarithm. Of one that has none the loss is no number, that of 0 too.
const Expression kKlDiv = Wide<2, [](auto a, auto t, auto s) {
  return s[0] != 0 ? Exp(t) * (t - a)
                   : t * ((t > 0 ? Log(t) : std::numeric_limits<decltype(t)>::quiet_NaN()) - a);
}>();
const Expression kKlDivGradient = Wide<3, [](auto g, auto, auto t, auto s) {
  return s[0] != 0 ? -Exp(t) * g : (t > 0) ? -t * g : t * 0;
}>();
const Expression kKlDivTargetGradient = Wide<3, [](auto g, auto a, auto t, auto s) {
  return s[0] != 0 ? Exp(t) * (t - a + 1) * g : (t > 0) ? (Log(t) + 1 - a) * g : t * 0;
}>();
const Expression kSoftMargin = Wide<2, [](auto a, auto t, auto) { return Log1p(Exp(-t * a)); }>();
const Expression kSoftMarginGradient =
    Wide<3, [](auto g, auto a, auto t, auto) { return -t * g / (1 + Exp(t * a)); }>();

}  // namespace expressions
}  // namespace openaclnn::supporting::OPENACLNN_TARGET
