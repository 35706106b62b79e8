// SPDX-License-Identifier: Apache-2.0
// GRU over sequences, and its gradient.
#include <cmath>

#include "supporting/activation/recurrence.h"

namespace openaclnn::supporting {
namespace {

double Sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// Rows of weights are the gates of reset, update and the new state. Saved are these, the part of
/// the new one that the reset scales, and the state.
struct GruSteps {
  static constexpr size_t kStates = 1, kSaved = 5;
  static constexpr std::array<size_t, 1> kStateAt = {4};

  static void Forward(int64_t n, const float* by_input, const float* by_state,
                      const std::array<float*, 1>& states, float* saved) {
    for (int64_t k = 0; k < n; ++k) {
      const auto sum = [&](int64_t gate) {
        return double{by_input[gate * n + k]} + double{by_state[gate * n + k]};
      };
      const double reset = Sigmoid(sum(0)), update = Sigmoid(sum(1));
      const double scaled = double{by_state[2 * n + k]};
      const double made = std::tanh(double{by_input[2 * n + k]} + reset * scaled);
      states[0][k] = static_cast<float>((1 - update) * made + update * double{states[0][k]});
      const double kept[] = {reset, update, made, scaled};
      for (int64_t i = 0; i < 4; ++i) saved[i * n + k] = static_cast<float>(kept[i]);
    }
  }

  static void Keep(int64_t n, const std::array<float*, 1>& states, float* saved) {
    std::copy_n(states[0], n, saved + 4 * n);
  }

  static void Backward(int64_t n, const float* saved, const std::array<float*, 1>& before,
                       const std::array<float*, 1>& by, float* by_input, float* by_state) {
    for (int64_t k = 0; k < n; ++k) {
      const auto at = [&](int64_t which) { return double{saved[which * n + k]}; };
      const double reset = at(0), update = at(1), made = at(2), scaled = at(3);
      const double dh = double{by[0][k]};
      const double dn = dh * (1 - update) * (1 - made * made);
      const double dr = dn * scaled * reset * (1 - reset);
      const double dz = dh * (double{before[0][k]} - made) * update * (1 - update);
      by_input[k] = by_state[k] = static_cast<float>(dr);
      by_input[n + k] = by_state[n + k] = static_cast<float>(dz);
      by_input[2 * n + k] = static_cast<float>(dn);
      by_state[2 * n + k] = static_cast<float>(dn * reset);
      by[0][k] = static_cast<float>(dh * update);
    }
  }
};

template <class P>
Recurrent OperandsOf(const P& p) {
  return {p.input,      p.params,    {&p.hx}, p.batchSizes, p.hasBiases, p.bidirectional,
          p.batchFirst, p.numLayers, 3};
}

}  // namespace

void CheckGru(const GruParams& p, Checker& checker) {
  const Recurrent of = OperandsOf(p);
  CheckRecurrent(of, checker);
  CheckDropout(p.dropout, p.train, p.numLayers, checker);
  if (!checker.ok()) return;
  const RecurrentSizes sizes(of);
  CheckSequence(p.output, of, sizes.directions * sizes.width, checker);
  CheckShape(p.hy, ShapeOf(p.hx), checker);
  if (!p.train) return;
  for (const GivenList* list : {&p.rOut, &p.zOut, &p.nOut, &p.hnOut, &p.hOut}) {
    CheckSteps(*list, sizes, checker);
  }
}

Plan PlanGru(const GruParams& p, const Product&) {
  std::vector<const GivenList*> saved;
  if (p.train) saved = {&p.rOut, &p.zOut, &p.nOut, &p.hnOut, &p.hOut};
  const RecurrentForward<GruSteps> forward(OperandsOf(p), p.output, {&p.hy}, saved);
  return {forward.bytes(),
          [forward](const Buffers& buffers) -> Status { return forward.Run(buffers); }};
}

void CheckGruGradient(const GruGradientParams& p, Checker& checker) {
  const Recurrent of = OperandsOf(p);
  CheckRecurrent(of, checker);
  if (!checker.ok()) return;
  const RecurrentSizes sizes(of);
  CheckSequence(p.gradOutput, of, sizes.directions * sizes.width, checker);
  for (const Tensor* each : {&p.gradHy, &p.gradHx}) CheckShape(*each, ShapeOf(p.hx), checker);
  for (const GivenList* list : {&p.r, &p.z, &p.n, &p.hn, &p.h}) CheckSteps(*list, sizes, checker);
  CheckGradients(of, p.gradInput, p.gradParams, checker);
}

Plan PlanGruGradient(const GruGradientParams& p, const Product&) {
  const RecurrentBackward<GruSteps> backward(OperandsOf(p), {p.gradOutput,
                                                             {&p.gradHy},
                                                             {&p.r, &p.z, &p.n, &p.hn, &p.h},
                                                             p.gradInput,
                                                             {&p.gradHx},
                                                             p.gradParams});
  return {backward.bytes(),
          [backward](const Buffers& buffers) -> Status { return backward.Run(buffers); }};
}

}  // namespace openaclnn::supporting
