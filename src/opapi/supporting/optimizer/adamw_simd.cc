// SPDX-License-Identifier: Apache-2.0
// The loop of AdamW, compiled once for each instruction set.
#include <cmath>

#include "supporting/optimizer/adamw.h"

namespace openaclnn::supporting::OPENACLNN_TARGET {
namespace {

/// Where the rows are, each of them apart from the others, the loop is one of vectors.
template <bool kAmsgrad, bool kNesterov = false>
void Step(const AdamWStep& s, int64_t n, double* __restrict var, double* __restrict m,
          double* __restrict v, double* __restrict top, const double* __restrict grad) {
  for (int64_t i = 0; i < n; ++i) {
    const double g = s.sign * grad[i];
    const double first = s.beta1 * m[i] + (1 - s.beta1) * g;
    double second = s.beta2 * v[i] + (1 - s.beta2) * g * g;
    m[i] = first;
    v[i] = second;
    if constexpr (kAmsgrad) {
      second = second < top[i] ? top[i] : second;
      top[i] = second;
    }
    const double ahead = kNesterov ? s.beta1 * first + (1 - s.beta1) * g : first;
    var[i] = var[i] * s.keep - s.size * ahead / (std::sqrt(second) / s.correction + s.eps);
  }
}

void StepOf(const AdamWStep& step, int64_t n, const AdamWRows& rows) {
  if (rows.top != nullptr) {
    Step<true>(step, n, rows.var, rows.m, rows.v, rows.top, rows.grad);
  } else if (step.nesterov) {
    Step<false, true>(step, n, rows.var, rows.m, rows.v, nullptr, rows.grad);
  } else {
    Step<false>(step, n, rows.var, rows.m, rows.v, nullptr, rows.grad);
  }
}

}  // namespace

const AdamWKernels kAdamWKernels = {StepOf};

}  // namespace openaclnn::supporting::OPENACLNN_TARGET
