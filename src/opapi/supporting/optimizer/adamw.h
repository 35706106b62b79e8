// SPDX-License-Identifier: Apache-2.0
// A step of AdamW or Adam over rows of numbers.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn::supporting {

/// Values that all elements of a step share.
struct AdamWStep {
  double beta1, beta2, eps;
  double size;            // rate / (1 - beta1^t)
  double correction;      // sqrt(1 - beta2^t)
  double keep;            // 1 - rate * decay
  double sign;            // of the gradient: -1 to maximise
  bool nesterov = false;  // whether the step takes beta1 * m + (1 - beta1) * g for m
};

/// The values of a row, each of which the step changes; `top` is null without AMSGrad.
struct AdamWRows {
  double *var, *m, *v, *top;
  const double* grad;
};

struct AdamWKernels {
  void (*step)(const AdamWStep& step, int64_t n, const AdamWRows& rows);
};
OPENACLNN_TARGET_DECLARE(extern const AdamWKernels kAdamWKernels)

}  // namespace openaclnn::supporting
