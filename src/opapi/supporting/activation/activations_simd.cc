// SPDX-License-Identifier: Apache-2.0
// The formulas of activations and their gradients. a is the input, s the scalars.
#include <cmath>
#include <limits>

#include "supporting/activation/activations.h"
#include "supporting/formula-inl.h"

namespace openaclnn::supporting::OPENACLNN_TARGET {

using formula::Any;
using formula::Costly;
using formula::Erf;
using formula::Exp;
using formula::Expm1;
using formula::Log;
using formula::Log1p;
using formula::Max;
using formula::Min;
using formula::OfPairs;
using formula::Real;
using formula::Sigmoid;
using formula::Tanh;

namespace {

template <class T>
T Gelu(T a) {
  return a * T(0.5) * (1 + Erf(a * T(M_SQRT1_2)));
}

/// (1 + tanh(u)) / 2 = 1 / (1 + e^-2u), u = sqrt(2 / pi) (a + 0.044715 a^3).
template <class T>
T TanhCdf(T a) {
  return Sigmoid(T(2 * M_SQRT1_2 * M_2_SQRTPI) * (a + T(0.044715) * a * a * a));
}

/// Its approximation by tanh. Speed against a tanh in double, on one thread of a Zen 4: 1.6.
template <class T>
T GeluTanh(T a) {
  return a * TanhCdf(a);
}

template <class T>
T GeluGradient(T g, T a) {
  const T density = Exp(-a * a / 2) * T(M_2_SQRTPI * M_SQRT1_2 / 2);
  return g * (T(0.5) * (1 + Erf(a * T(M_SQRT1_2))) + a * density);
}

template <class T>
T GeluTanhGradient(T g, T a) {
  const T cdf = TanhCdf(a);
  const T slope = T(2 * M_SQRT1_2 * M_2_SQRTPI) * (1 + 3 * T(0.044715) * a * a);
  return g * (cdf + a * cdf * (1 - cdf) * slope);
}

constexpr double kFastGeluSlope = 1.702;

// From Klambauer et al., "Self-Normalizing Neural Networks", 2017.
constexpr double kSeluScale = 1.0507009873554805, kSeluAlpha = 1.6732632423543772;

template <class T>
T FastGeluGradient(T g, T a) {
  const T sigmoid = Sigmoid(T(kFastGeluSlope) * a);
  return g * (sigmoid + T(kFastGeluSlope) * a * sigmoid * (1 - sigmoid));
}

/// s: the distance that a keeps from 0 and 1; none if it is negative.
template <class T>
T Logit(T a, const T* s) {
  const T low = s[0] < 0 ? a : s[0], high = s[0] < 0 ? a : 1 - s[0];
  const T x = a < low ? low : a > high ? high : a;
  return Log(x / (1 - x));
}

template <class T>
T LogitGradient(T a, T g, const T* s) {
  const bool bounded = s[0] >= 0;
  const T low = bounded ? s[0] : T{0}, high = bounded ? 1 - s[0] : T{1};
  if (a < low || a > high) return bounded ? T{0} : std::numeric_limits<T>::quiet_NaN();
  return g / (a * (1 - a));
}

/// log(1 + exp(a)) without overflow.
template <class T>
T Softplus(T a) {
  return Max(a, T{0}) + Log1p(Exp(-std::abs(a)));
}

template <class T>
T MishGradient(T g, T a) {
  const T tanh = Tanh(Softplus(a));
  return g * (tanh + a * Sigmoid(a) * (1 - tanh * tanh));
}

/// s: alpha, scale, scale of the input, whether a is the result.
template <class T>
T EluGradient(T g, T a, const T* s) {
  if (a > 0) return g * s[1];
  return g * s[2] * (s[3] != 0 ? a + s[0] * s[1] : s[0] * s[1] * Exp(a * s[2]));
}

}  // namespace

namespace expressions {

const Expression kRelu = Any<1, [](auto a, auto) { return Max(a, decltype(a){0}); }>();
const Expression kTanh = Costly(Real<1, [](auto a, auto) { return Tanh(a); }>());
const Expression kSigmoid =
    OfPairs(pairs::kSigmoid, Costly(Real<1, [](auto a, auto) { return Sigmoid(a); }>()));
const Expression kSilu = Costly(Real<1, [](auto a, auto) { return a * Sigmoid(a); }>());
const Expression kGelu = Costly(Real<1, [](auto a, auto) { return GeluTanh(a); }>());
// s: 1 for the approximation.
const Expression kGeluV2 =
    Costly(Real<1, [](auto a, auto s) { return s[0] == 1 ? GeluTanh(a) : Gelu(a); }>());

const Expression kFastGelu = Costly(Real<1, [](auto a, auto) {
  return a * Sigmoid(static_cast<decltype(a)>(kFastGeluSlope) * a);
}>());
// s: the factor of b.
const Expression kAddRelu =
    Real<2, [](auto a, auto b, auto s) { return Max(a + s[0] * b, decltype(a){0}); }>();
const Expression kLogit = Costly(Real<1, [](auto a, auto s) { return Logit(a, s); }>());

// s: the slope below 0.
const Expression kLeakyRelu = Real<1, [](auto a, auto s) { return (a > 0) ? a : a * s[0]; }>();
// s: alpha, scale, scale of the input.
const Expression kElu =
    Costly(Real<1, [](auto a, auto s) { return s[1] * (a > 0 ? a : s[0] * Expm1(a * s[2])); }>());
const Expression kSelu = Costly(Real<1, [](auto a, auto) {
  using T = decltype(a);
  return T(kSeluScale) * (a > 0 ? a : T(kSeluAlpha) * Expm1(a));
}>());
// s: alpha.
const Expression kCelu =
    Costly(Real<1, [](auto a, auto s) { return (a > 0) ? a : s[0] * Expm1(a / s[0]); }>());
const Expression kHardsigmoid = Real<1, [](auto a, auto) {
  using T = decltype(a);
  return Min(Max(a + 3, T{0}), T{6}) / 6;
}>();
const Expression kHardswish = Real<1, [](auto a, auto) {
  using T = decltype(a);
  return a * Min(Max(a + 3, T{0}), T{6}) / 6;
}>();
const Expression kMish = Costly(Real<1, [](auto a, auto) { return a * Tanh(Softplus(a)); }>());
const Expression kLogSigmoid = Costly(Real<1, [](auto a, auto) { return -Softplus(-a); }>());
// s: beta, the threshold of beta * a above which it is a.
const Expression kSoftplus = Costly(
    Real<1, [](auto a, auto s) { return (a * s[0] > s[1]) ? a : Log1p(Exp(a * s[0])) / s[0]; }>());
// s: how far from 0 the result begins.
const Expression kHardshrink =
    Real<1, [](auto a, auto s) { return a >= -s[0] && a <= s[0] ? decltype(a){0} : a; }>();
const Expression kSoftshrink =
    Real<1, [](auto a, auto s) { return (a > s[0])  ? a - s[0]
                                        : a < -s[0] ? a + s[0]
                                                    : a * 0; }>();
// s: threshold, value.
const Expression kThreshold = Any<1, [](auto a, auto s) { return a <= s[0] ? s[1] : a; }>();

// Gradients: g of the output; a the output of sigmoid and tanh, the input of the others.
const Expression kSigmoidGradient = OfPairs(
    pairs::kSigmoidGradient, Real<2, [](auto g, auto a, auto) { return g * (1 - a) * a; }>());
const Expression kTanhGradient = Real<2, [](auto g, auto a, auto) { return g * (1 - a * a); }>();
const Expression kThresholdGradient =
    Any<2, [](auto g, auto a, auto s) { return a <= s[0] ? decltype(g){0} : g; }>();
const Expression kSiluGradient = Real<2, [](auto g, auto a, auto) {
  const auto sigmoid = Sigmoid(a);
  return g * sigmoid * (1 + a * (1 - sigmoid));
}>();
const Expression kGeluGradient = Real<2, [](auto g, auto a, auto) { return GeluGradient(g, a); }>();
// s: 1 for the approximation.
const Expression kGeluGradientV2 = Real<2, [](auto g, auto a, auto s) {
  return s[0] == 1 ? GeluTanhGradient(g, a) : GeluGradient(g, a);
}>();
const Expression kLeakyReluGradient =
    Real<2, [](auto g, auto a, auto s) { return (a > 0) ? g : g * s[0]; }>();
const Expression kEluGradient =
    Real<2, [](auto g, auto a, auto s) { return EluGradient(g, a, s); }>();
const Expression kSeluGradient = Real<2, [](auto g, auto a, auto) {
  using T = decltype(g);
  return g * ((a > 0) ? T(kSeluScale) : a + T(kSeluScale * kSeluAlpha));
}>();
const Expression kHardtanhGradient =
    Real<2, [](auto g, auto a, auto s) { return a <= s[0] || a >= s[1] ? decltype(g){0} : g; }>();
const Expression kHardsigmoidGradient =
    Real<2, [](auto g, auto a, auto) { return (a > -3) && a < 3 ? g / 6 : decltype(g){0}; }>();
const Expression kHardswishGradient = Real<2, [](auto g, auto a, auto) {
  using T = decltype(g);
  const T within = g * (a / 3 + T(0.5)), positive = a < 3 ? within : g;
  return a <= -3 ? T{0} : positive;
}>();
const Expression kFastGeluGradient =
    Real<2, [](auto g, auto a, auto) { return FastGeluGradient(g, a); }>();
const Expression kLogitGradient =
    Real<2, [](auto a, auto g, auto s) { return LogitGradient(a, g, s); }>();
const Expression kMishGradient = Real<2, [](auto g, auto a, auto) { return MishGradient(g, a); }>();
const Expression kLogSigmoidGradient =
    Real<2, [](auto g, auto a, auto) { return g * Sigmoid(-a); }>();
const Expression kSoftplusGradient =
    Real<2, [](auto g, auto a, auto s) { return (a * s[0] > s[1]) ? g : g * Sigmoid(a * s[0]); }>();
const Expression kShrinkGradient =
    Real<2, [](auto g, auto a, auto s) { return a >= -s[0] && a <= s[0] ? decltype(g){0} : g; }>();

}  // namespace expressions
}  // namespace openaclnn::supporting::OPENACLNN_TARGET
