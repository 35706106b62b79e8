// SPDX-License-Identifier: Apache-2.0
// TransformBiasRescaleQkv: a bias added, then queries, keys and values apart, head by head; queries
// scaled.
#include <array>
#include <cmath>

#include "generated/activation.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {

void CheckRescaleQkv(const RescaleQkvParams& p, Checker& checker) {
  checker.Rank(p.qkv, 3).Rank(p.qkvBias, 1);
  if (!checker.ok()) return;
  const int64_t width = p.qkv.dim(2), heads = p.numHeads;
  checker.That(width % 3 == 0, [&] {
    return Concat("qkv shape is ", ShapeText(p.qkv), ", expected a multiple of 3 in the end");
  });
  checker.That(heads > 0 && width / 3 % heads == 0, [&] {
    return Concat("numHeads value is ", heads, ", expected a divisor of ", width / 3);
  });
  if (!checker.ok()) return;
  CheckShape(p.qkvBias, {width}, checker);
  for (const Tensor* each : {&p.q, &p.k, &p.v}) {
    CheckShape(*each, {p.qkv.dim(0), heads, p.qkv.dim(1), width / 3 / heads}, checker);
  }
}

Plan PlanRescaleQkv(const RescaleQkvParams& p, const Product&) {
  if (p.qkv.empty()) return Nothing();
  const Elements qkv(p.qkv, 0), bias(p.qkvBias, 0);
  const std::array<Elements, 3> parts = {Elements(p.q, 0), Elements(p.k, 0), Elements(p.v, 0)};
  const int64_t heads = p.numHeads, steps = p.qkv.dim(1), width = p.qkv.dim(2) / 3,
                each = width / heads;
  const double scale = 1 / std::sqrt(static_cast<double>(each));
  return {0, [=, rows = p.qkv.dim(0) * steps](const Buffers& buffers) -> Status {
            const std::vector<double> biases = bias.All(buffers);
            ParallelRowsIn<std::vector<double>>(rows, 3 * width, [&](int64_t row, auto* room) {
              room->resize(static_cast<size_t>(each));
              const int64_t batch = row / steps, step = row % steps;
              for (int64_t head = 0; head < 3 * heads; ++head) {
                const int64_t part = head / heads;
                for (int64_t i = 0; i < each; ++i) {
                  const int64_t at = head * each + i;
                  const double sum =
                      qkv.Get(buffers, row * 3 * width + at) + biases[static_cast<size_t>(at)];
                  (*room)[static_cast<size_t>(i)] = part == 0 ? sum * scale : sum;
                }
                const int64_t to = ((batch * heads + head % heads) * steps + step) * each;
                parts[static_cast<size_t>(part)].SetRun(buffers, to, room->data(), each);
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
