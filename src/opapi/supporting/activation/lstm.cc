// SPDX-License-Identifier: Apache-2.0
// LSTM over sequences, and its gradient.
#include <cmath>

#include "supporting/activation/recurrence.h"

namespace openaclnn::supporting {
namespace {

double Sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// Rows of weights are the gates of input, forgetting, cell and result. Saved are input, cell,
/// forgetting, result, both states and the state's tanh.
struct LstmSteps {
  static constexpr size_t kStates = 2, kSaved = 7;
  static constexpr std::array<size_t, 2> kStateAt = {4, 5};

  static void Forward(int64_t n, const float* by_input, const float* by_state,
                      const std::array<float*, 2>& states, float* saved) {
    for (int64_t k = 0; k < n; ++k) {
      const auto sum = [&](int64_t gate) {
        return double{by_input[gate * n + k]} + double{by_state[gate * n + k]};
      };
      const double in = Sigmoid(sum(0)), forget = Sigmoid(sum(1)), cell = std::tanh(sum(2)),
                   out = Sigmoid(sum(3));
      const double state = forget * double{states[1][k]} + in * cell, tanh = std::tanh(state);
      states[0][k] = static_cast<float>(out * tanh);
      states[1][k] = static_cast<float>(state);
      const double kept[] = {in, cell, forget, out};
      for (int64_t i = 0; i < 4; ++i) saved[i * n + k] = static_cast<float>(kept[i]);
      saved[6 * n + k] = static_cast<float>(tanh);
    }
  }

  static void Keep(int64_t n, const std::array<float*, 2>& states, float* saved) {
    std::copy_n(states[0], n, saved + 4 * n);
    std::copy_n(states[1], n, saved + 5 * n);
  }

  static void Backward(int64_t n, const float* saved, const std::array<float*, 2>& before,
                       const std::array<float*, 2>& by, float* by_input, float* by_state) {
    for (int64_t k = 0; k < n; ++k) {
      const auto at = [&](int64_t which) { return double{saved[which * n + k]}; };
      const double in = at(0), cell = at(1), forget = at(2), out = at(3), tanh = at(6);
      const double dh = double{by[0][k]};
      const double dc = double{by[1][k]} + dh * out * (1 - tanh * tanh);
      const double gates[] = {dc * cell * in * (1 - in),
                              dc * double{before[1][k]} * forget * (1 - forget),
                              dc * in * (1 - cell * cell), dh * tanh * out * (1 - out)};
      for (int64_t i = 0; i < 4; ++i) {
        by_input[i * n + k] = by_state[i * n + k] = static_cast<float>(gates[i]);
      }
      by[0][k] = 0;
      by[1][k] = static_cast<float>(dc * forget);
    }
  }
};

/// The states of the call; a list that lacks them has no tensors for them.
std::vector<const Tensor*> Pair(const GivenList& list) {
  if (list.size != 2) return {};
  return {&list[0], &list[1]};
}

template <class P>
Recurrent OperandsOf(const P& p) {
  return {p.input,      p.params,    Pair(p.hx), p.batchSizes, p.hasBiases, p.bidirectional,
          p.batchFirst, p.numLayers, 4};
}

template <class P>
void CheckCommon(const P& p, Checker& checker) {
  checker.That(p.hx.size == 2, [&] {
    return Concat("hx length is ", p.hx.size, ", expected 2: the result and the state");
  });
  if (!checker.ok()) return;
  CheckRecurrent(OperandsOf(p), checker);
  CheckDropout(p.dropout, p.train, p.numLayers, checker);
}

}  // namespace

void CheckLstm(const LstmParams& p, Checker& checker) {
  CheckCommon(p, checker);
  if (!checker.ok()) return;
  const Recurrent of = OperandsOf(p);
  const RecurrentSizes sizes(of);
  CheckSequence(p.output, of, sizes.directions * sizes.width, checker);
  for (const Tensor* each : {&p.hy, &p.cy}) CheckShape(*each, ShapeOf(p.hx[0]), checker);
  if (!p.train) return;
  for (const GivenList* list :
       {&p.iOut, &p.jOut, &p.fOut, &p.oOut, &p.hOut, &p.cOut, &p.tanhCOut}) {
    CheckSteps(*list, sizes, checker);
  }
}

Plan PlanLstm(const LstmParams& p, const Product&) {
  std::vector<const GivenList*> saved;
  if (p.train) saved = {&p.iOut, &p.jOut, &p.fOut, &p.oOut, &p.hOut, &p.cOut, &p.tanhCOut};
  const RecurrentForward<LstmSteps> forward(OperandsOf(p), p.output, {&p.hy, &p.cy}, saved);
  return {forward.bytes(),
          [forward](const Buffers& buffers) -> Status { return forward.Run(buffers); }};
}

void CheckLstmGradient(const LstmGradientParams& p, Checker& checker) {
  CheckCommon(p, checker);
  checker.That(p.outputMask.empty(), [&] {
    return Concat("outputMask length is ", p.outputMask.size(), ", expected null");
  });
  if (!checker.ok()) return;
  const Recurrent of = OperandsOf(p);
  const RecurrentSizes sizes(of);
  if (p.gradOutput.present()) {
    CheckSequence(p.gradOutput, of, sizes.directions * sizes.width, checker);
  }
  for (const Tensor* each : {&p.gradHy, &p.gradCy, &p.gradHx, &p.gradCx}) {
    if (each->present()) CheckShape(*each, ShapeOf(p.hx[0]), checker);
  }
  for (const GivenList* list : {&p.i, &p.j, &p.f, &p.o, &p.h, &p.c, &p.tanhC}) {
    CheckSteps(*list, sizes, checker);
  }
  CheckGradients(of, p.gradInput, p.gradParams, checker);
}

Plan PlanLstmGradient(const LstmGradientParams& p, const Product&) {
  const RecurrentBackward<LstmSteps> backward(OperandsOf(p),
                                              {p.gradOutput,
                                               {&p.gradHy, &p.gradCy},
                                               {&p.i, &p.j, &p.f, &p.o, &p.h, &p.c, &p.tanhC},
                                               p.gradInput,
                                               {&p.gradHx, &p.gradCx},
                                               p.gradParams});
  return {backward.bytes(),
          [backward](const Buffers& buffers) -> Status { return backward.Run(buffers); }};
}

}  // namespace openaclnn::supporting
