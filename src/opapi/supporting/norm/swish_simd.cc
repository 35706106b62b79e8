// SPDX-License-Identifier: Apache-2.0
// Swish of rows of double and its slope, compiled once for each instruction set.
#include "kernels/simd/double_math-inl.h"
#include "supporting/norm/fusion.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

double Sigmoid(double x) { return 1 / (1 + Exp(-x)); }

void Swish(double* z, double scale, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) z[i] = z[i] * Sigmoid(scale * z[i]);
}

/// The slope is s + scale * z * s * (1 - s), s = sigmoid(scale * z).
void SwishGradient(double* g, const double* z, double scale, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const double sigmoid = Sigmoid(scale * z[i]);
    g[i] = g[i] * (sigmoid * (1 + scale * z[i] * (1 - sigmoid)));
  }
}

}  // namespace

extern const SwishKernels kSwishKernels = {.swish = Swish, .gradient = SwishGradient};

}  // namespace openaclnn::OPENACLNN_TARGET
