// SPDX-License-Identifier: Apache-2.0
// ThnnFusedLstmCell: the gates of a cell, its state and its result; and their gradient. In double.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "generated/activation.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

double Sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// The quarters of a row of gates.
struct Gates {
  Gates(double* row, int64_t width)
      : in(row), forget(row + width), cell(row + 2 * width), out(row + 3 * width) {}
  double *in, *forget, *cell, *out;
};

void LoadRun(const Elements& from, const Buffers& buffers, int64_t begin, int64_t n, double* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = from.Get(buffers, begin + i);
}

/// Checks the shapes of the state and of the gates: (N, H) and (N, 4 H).
bool CheckStates(const Tensor& state, std::initializer_list<const Tensor*> states,
                 std::initializer_list<const Tensor*> gates, Checker& checker) {
  checker.Rank(state, 2);
  if (!checker.ok()) return false;
  for (const Tensor* each : states) {
    if (each->present()) CheckShape(*each, ShapeOf(state), checker);
  }
  const Shape wide = {state.dim(0), WrappingProduct(4, state.dim(1))};
  for (const Tensor* each : gates) CheckShape(*each, wide, checker);
  return checker.ok();
}

}  // namespace

void CheckLstmCell(const LstmCellParams& p, Checker& checker) {
  if (!CheckStates(p.cx, {&p.hy, &p.cy}, {&p.inputGates, &p.hiddenGates, &p.storage}, checker)) {
    return;
  }
  const Shape bias = {WrappingProduct(4, p.cx.dim(1))};
  checker.That(p.inputBias.present() == p.hiddenBias.present(), [&] {
    const bool missing = !p.inputBias.present();
    return Concat(missing ? "inputBias" : "hiddenBias", " is null, expected one as ",
                  missing ? "hiddenBias" : "inputBias", " is given");
  });
  for (const Tensor* each : {&p.inputBias, &p.hiddenBias}) {
    if (each->present()) CheckShape(*each, bias, checker);
  }
}

Plan PlanLstmCell(const LstmCellParams& p, const Product&) {
  if (p.cx.empty()) return Nothing();
  const Elements inputs(p.inputGates, 0), hidden(p.hiddenGates, 0), state(p.cx, 0);
  const Elements input_bias(p.inputBias, 0), hidden_bias(p.hiddenBias, 0);
  const Elements hy(p.hy, 0), cy(p.cy, 0), storage(p.storage, 0);
  const int64_t rows = p.cx.dim(0), width = p.cx.dim(1);
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRowsIn<std::vector<double>>(rows, 16 * width, [&](int64_t row, auto* room) {
              room->resize(static_cast<size_t>(6 * width));
              double* const sums = room->data();
              double* const results = sums + 4 * width;
              double* const states = sums + 5 * width;
              const Gates gate(sums, width);
              for (int64_t i = 0; i < 4 * width; ++i) {
                const int64_t at = row * 4 * width + i;
                const double sum = (inputs.Get(buffers, at) + input_bias.Get(buffers, i)) +
                                   (hidden.Get(buffers, at) + hidden_bias.Get(buffers, i));
                sums[i] = i / width == 2 ? std::tanh(sum) : Sigmoid(sum);
              }
              for (int64_t i = 0; i < width; ++i) {
                states[i] = gate.forget[i] * state.Get(buffers, row * width + i) +
                            gate.in[i] * gate.cell[i];
                results[i] = gate.out[i] * std::tanh(states[i]);
              }
              storage.SetRun(buffers, row * 4 * width, sums, 4 * width);
              hy.SetRun(buffers, row * width, results, width);
              cy.SetRun(buffers, row * width, states, width);
            });
            return {};
          }};
}

void CheckLstmCellGradient(const LstmCellGradientParams& p, Checker& checker) {
  if (!CheckStates(p.cx, {&p.cy, &p.gradHy, &p.gradCy, &p.gradCx}, {&p.storage, &p.gradGates},
                   checker)) {
    return;
  }
  CheckShape(p.gradBias, Shape{WrappingProduct(4, p.cx.dim(1))}, checker);
}

Plan PlanLstmCellGradient(const LstmCellGradientParams& p, const Product&) {
  const int64_t rows = p.cx.dim(0), width = p.cx.dim(1);
  const Elements grad_hy(p.gradHy, 0), grad_cy(p.gradCy, 0), cx(p.cx, 0), cy(p.cy, 0);
  const Elements storage(p.storage, 0), grad_gates(p.gradGates, 0), grad_cx(p.gradCx, 0);
  const Elements grad_bias(p.gradBias, 0);
  const bool has_bias = p.hasBias;
  return {0, [=](const Buffers& buffers) -> Status {
            // Sums of columns are taken of what is not rounded yet.
            std::vector<double> all(has_bias ? static_cast<size_t>(rows * 4 * width) : 0);
            ParallelRowsIn<std::vector<double>>(rows, 16 * width, [&](int64_t row, auto* room) {
              room->resize(static_cast<size_t>(9 * width));
              double* const gates = room->data();
              double* const grads = gates + 4 * width;
              double* const states = gates + 8 * width;
              const Gates gate(gates, width), grad(grads, width);
              LoadRun(storage, buffers, row * 4 * width, 4 * width, gates);
              for (int64_t i = 0; i < width; ++i) {
                const int64_t at = row * width + i;
                const double dy = grad_hy.Get(buffers, at), tanh = std::tanh(cy.Get(buffers, at));
                const double dc = dy * gate.out[i] * (1 - tanh * tanh) + grad_cy.Get(buffers, at);
                grad.in[i] = dc * gate.cell[i] * gate.in[i] * (1 - gate.in[i]);
                grad.forget[i] = dc * cx.Get(buffers, at) * gate.forget[i] * (1 - gate.forget[i]);
                grad.cell[i] = dc * gate.in[i] * (1 - gate.cell[i] * gate.cell[i]);
                grad.out[i] = dy * tanh * gate.out[i] * (1 - gate.out[i]);
                states[i] = dc * gate.forget[i];
              }
              grad_gates.SetRun(buffers, row * 4 * width, grads, 4 * width);
              grad_cx.SetRun(buffers, row * width, states, width);
              if (has_bias) std::copy_n(grads, 4 * width, all.begin() + row * 4 * width);
            });
            ParallelRows(4 * width, rows, [&](int64_t column) {
              TreeSum<double> sum;
              for (int64_t row = 0; has_bias && row < rows; ++row) {
                sum.Add(all[static_cast<size_t>(row * 4 * width + column)]);
              }
              grad_bias.Set(buffers, column, sum.Total());
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
