// SPDX-License-Identifier: Apache-2.0
// Gated activations over rows of numbers.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// Rows that a gate reads. `passed` is the half that is passed on. `gate` is the half that says how
/// much of it. Gradients also read `grad`, the gradient by the result. Gradients of gates by Gelu
/// read `activated`, the activation that the forward stored.
struct GateRows {
  const double *passed, *gate, *grad = nullptr, *activated = nullptr;
};

/// The loops that are compiled for each instruction set. A forward writes the result to `out` and
/// Gelu of the gate to `more`. A gradient writes the one by `passed` to `out` and the one by `gate`
/// to `more`.
struct GateKernels {
  using Kernel = void (*)(const GateRows& rows, int64_t n, double* out, double* more);
  Kernel sigmoid, sigmoid_gradient, silu, silu_gradient;
  Kernel gelu, gelu_gradient;  // within 2^-32 of their terms
  Kernel gelu_by_tanh, gelu_by_tanh_gradient;
};
OPENACLNN_TARGET_DECLARE(extern const GateKernels kGateKernels)

}  // namespace openaclnn
