// SPDX-License-Identifier: Apache-2.0
// Gated activations over rows of numbers, compiled once for each instruction set.
#include <cmath>

#include "kernels/simd/double_math-inl.h"
#include "kernels/simd/float_inverses-inl.h"
#include "supporting/activation/gates.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

double Sigmoid(double x) { return 1 / (1 + Exp(-x)); }

void PassBySigmoid(const GateRows& rows, int64_t n, double* out, double*) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = rows.passed[i] * Sigmoid(rows.gate[i]);
}

void SigmoidGradient(const GateRows& rows, int64_t n, double* out, double* more) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const double gate = Sigmoid(rows.gate[i]);
    out[i] = rows.grad[i] * gate;
    more[i] = rows.grad[i] * rows.passed[i] * gate * (1 - gate);
  }
}

void PassBySilu(const GateRows& rows, int64_t n, double* out, double*) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = rows.gate[i] * Sigmoid(rows.gate[i]) * rows.passed[i];
  }
}

void SiluGradient(const GateRows& rows, int64_t n, double* out, double* more) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const double a = rows.gate[i], sigmoid = Sigmoid(a);
    out[i] = rows.grad[i] * (a * sigmoid);
    more[i] = rows.grad[i] * rows.passed[i] * (sigmoid * (1 + a * (1 - sigmoid)));
  }
}

void PassByGelu(const GateRows& rows, int64_t n, double* out, double* more) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const double a = rows.gate[i];
    more[i] = a * 0.5 * NearErfc(-a * M_SQRT1_2);
    out[i] = more[i] * rows.passed[i];
  }
}

/// The slope is cdf(a) + a * pdf(a) of the normal distribution.
void GeluGradient(const GateRows& rows, int64_t n, double* out, double* more) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const double a = rows.gate[i];
    const double density = Exp(-a * a / 2) * (M_2_SQRTPI * M_SQRT1_2 / 2);
    out[i] = rows.grad[i] * rows.activated[i];
    more[i] = rows.grad[i] * rows.passed[i] * (0.5 * NearErfc(-a * M_SQRT1_2) + a * density);
  }
}

/// (1 + tanh(u)) / 2 = 1 / (1 + e^-2u), u = sqrt(2 / pi) (a + 0.044715 a^3).
void PassByTanhGelu(const GateRows& rows, int64_t n, double* out, double* more) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const double a = rows.gate[i];
    const double inner = M_SQRT1_2 * M_2_SQRTPI * (a + 0.044715 * a * a * a);
    more[i] = a * Sigmoid(2 * inner);
    out[i] = more[i] * rows.passed[i];
  }
}

/// With cdf = (1 + tanh(u)) / 2 the slope is cdf + a * 2 cdf (1 - cdf) u'(a).
void TanhGeluGradient(const GateRows& rows, int64_t n, double* out, double* more) {
  constexpr double kScale = 2 * M_SQRT1_2 * M_2_SQRTPI;  // of 2u and its slope
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const double a = rows.gate[i];
    const double cdf = Sigmoid(kScale * (a + 0.044715 * a * a * a));
    const double slope = kScale * (1 + 3 * 0.044715 * a * a);
    out[i] = rows.grad[i] * rows.activated[i];
    more[i] = rows.grad[i] * rows.passed[i] * (cdf + a * cdf * (1 - cdf) * slope);
  }
}

}  // namespace

extern const GateKernels kGateKernels = {
    .sigmoid = PassBySigmoid,
    .sigmoid_gradient = SigmoidGradient,
    .silu = PassBySilu,
    .silu_gradient = SiluGradient,
    .gelu = PassByGelu,
    .gelu_gradient = GeluGradient,
    .gelu_by_tanh = PassByTanhGelu,
    .gelu_by_tanh_gradient = TanhGeluGradient,
};

}  // namespace openaclnn::OPENACLNN_TARGET
