// SPDX-License-Identifier: Apache-2.0
// SwiGLU whose parts are clamped first, as GPT-OSS has it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace openaclnn::supporting {

/// out = a / (1 + e^(-alpha * a)) * (b + bias), of a at most `limit` and b within its both signs.
struct ClippedGate {
  void Run(const double* a, const double* b, int64_t step, int64_t n, double* out) const {
    for (int64_t i = 0; i < n; ++i) {
      const double glu = std::min(a[i * step], limit);
      const double linear = std::clamp(b[i * step], -limit, limit);
      out[i] = glu / (1 + std::exp(-alpha * glu)) * (linear + bias);
    }
  }

  double limit = 0, alpha = 1, bias = 0;
};

}  // namespace openaclnn::supporting
