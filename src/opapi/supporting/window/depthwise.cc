// SPDX-License-Identifier: Apache-2.0
// Convolutions by channel: ConvDepthwise2d, and MaskedCausalConv1d with its gradient, whose sums
// are in double.
#include <vector>

#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"
#include "supporting/tree_sum.h"
#include "supporting/window/convolution.h"

namespace openaclnn::supporting {
namespace {

// Each input channel is a group.
Filter FilterOf(const ConvDepthwise2dParams& p) {
  return {p.self,   p.weight, p.stride,      p.padding,     p.dilation,
          NoInts(), false,    p.self.dim(1), p.cubeMathType};
}

Convolved ConvolvedOf(const ConvDepthwise2dParams& p) {
  return {p.self, p.weight, p.bias, p.out, false, p.cubeMathType};
}

/// Sequences (steps, batch, width), and which of their steps count.
struct Sequences {
  template <class P>
  explicit Sequences(const P& p)
      : steps(p.input.dim(0)),
        batch(p.input.dim(1)),
        width(p.input.dim(2)),
        taps(p.weight.dim(0)),
        mask(p.mask, 1) {}

  int64_t At(int64_t step, int64_t b, int64_t channel) const {
    return (step * batch + b) * width + channel;
  }
  bool Counts(const Buffers& buffers, int64_t step, int64_t b) const {
    return mask.Get(buffers, b * steps + step) != 0;
  }

  int64_t steps, batch, width, taps;
  Elements mask;
};

template <class P>
void CheckSequences(const P& p, const Tensor& like, Checker& checker) {
  checker.Rank(p.input, 3).Rank(p.weight, 2).SameDtype(p.weight, p.input);
  checker.SameShapeAndDtype(like, p.input);
  if (!checker.ok()) return;
  CheckShape(p.weight, {p.weight.dim(0), p.input.dim(2)}, checker);
  checker.That(p.weight.dim(0) > 0, [&] {
    return Concat("weight shape is ", ShapeText(p.weight), ", expected one tap or more");
  });
  if (!p.mask.present()) return;
  checker.That(p.mask.dtype() == ACL_BOOL, [&] { return DtypeIs(p.mask, "BOOL"); });
  CheckShape(p.mask, {p.input.dim(1), p.input.dim(0)}, checker);
}

}  // namespace

void CheckConvDepthwise2d(const ConvDepthwise2dParams& p, Checker& checker) {
  checker.Rank(p.self, 4).Rank(p.weight, 4).SameDtype(p.out, p.self);
  CheckAxes(p.kernelSize, 2, 1, checker);
  if (!checker.ok()) return;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t taps = p.weight.dim(static_cast<uint32_t>(i + 2));
    checker.That(AtAxis(p.kernelSize, i) == taps, [&] {
      return Concat("kernelSize value is ", AtAxis(p.kernelSize, i), ", expected ", taps,
                    ", the taps of weight, ", ShapeText(p.weight));
    });
  }
  if (!checker.ok()) return;
  const Filter filter = FilterOf(p);
  CheckFilter(filter, checker);
  if (!checker.ok()) return;
  const Geometry geometry(filter);
  CheckShape(p.out, OutShape(geometry), checker);
  if (!checker.ok()) return;
  CheckBytes(p.weight, LeastBytes(ConvolvedOf(p), geometry), checker);
  if (p.bias.present()) CheckShape(p.bias, {p.weight.dim(0)}, checker);
}

Plan PlanConvDepthwise2d(const ConvDepthwise2dParams& p, const Product& product) {
  return PlanConvolved(ConvolvedOf(p), Geometry(FilterOf(p)), product);
}

void CheckMaskedCausalConv1d(const MaskedCausalConv1dParams& p, Checker& checker) {
  CheckSequences(p, p.out, checker);
}

Plan PlanMaskedCausalConv1d(const MaskedCausalConv1dParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Sequences of(p);
  const Elements input(p.input, 0), weight(p.weight, 0), out(p.out, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> weights = weight.All(buffers);
            ParallelRowsIn<std::vector<double>>(
                of.steps * of.batch, 4 * of.width * of.taps, [&](int64_t row, auto* sums) {
                  const int64_t step = row / of.batch, b = row % of.batch;
                  sums->assign(static_cast<size_t>(of.width), 0.0);
                  for (int64_t k = 0; k < of.taps && of.Counts(buffers, step, b); ++k) {
                    const int64_t from = step - (of.taps - 1 - k);
                    for (int64_t c = 0; from >= 0 && c < of.width; ++c) {
                      (*sums)[static_cast<size_t>(c)] +=
                          weights[static_cast<size_t>(k * of.width + c)] *
                          input.Get(buffers, of.At(from, b, c));
                    }
                  }
                  out.SetRun(buffers, row * of.width, sums->data(), of.width);
                });
            return {};
          }};
}

void CheckMaskedCausalConv1dGradient(const MaskedCausalConv1dGradientParams& p, Checker& checker) {
  CheckSequences(p, p.gradOutput, checker);
  checker.SameShapeAndDtype(p.gradInput, p.input).SameShapeAndDtype(p.gradWeight, p.weight);
}

Plan PlanMaskedCausalConv1dGradient(const MaskedCausalConv1dGradientParams& p, const Product&) {
  const Sequences of(p);
  const Elements gradient(p.gradOutput, 0), input(p.input, 0), weight(p.weight, 0),
      by_input(p.gradInput, 0), by_weight(p.gradWeight, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> weights = weight.All(buffers);
            ParallelRowsIn<std::vector<double>>(
                of.steps * of.batch, 4 * of.width * of.taps, [&](int64_t row, auto* sums) {
                  const int64_t step = row / of.batch, b = row % of.batch;
                  sums->assign(static_cast<size_t>(of.width), 0.0);
                  for (int64_t k = 0; k < of.taps; ++k) {
                    const int64_t to = step + (of.taps - 1 - k);
                    if (to >= of.steps || !of.Counts(buffers, to, b)) continue;
                    for (int64_t c = 0; c < of.width; ++c) {
                      (*sums)[static_cast<size_t>(c)] +=
                          weights[static_cast<size_t>(k * of.width + c)] *
                          gradient.Get(buffers, of.At(to, b, c));
                    }
                  }
                  by_input.SetRun(buffers, row * of.width, sums->data(), of.width);
                });
            ParallelRows(of.taps * of.width, of.steps * of.batch, [&](int64_t number) {
              const int64_t k = number / of.width, c = number % of.width;
              TreeSum<double> sum;
              for (int64_t to = of.taps - 1 - k; to < of.steps; ++to) {
                for (int64_t b = 0; b < of.batch; ++b) {
                  if (!of.Counts(buffers, to, b)) continue;
                  sum.Add(gradient.Get(buffers, of.At(to, b, c)) *
                          input.Get(buffers, of.At(to - (of.taps - 1 - k), b, c)));
                }
              }
              by_weight.Set(buffers, number, sum.Total());
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
