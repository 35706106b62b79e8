// SPDX-License-Identifier: Apache-2.0
// Gated activations over rows of numbers.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// The halves of a row: what is passed on, and what says how much of it; and the gradient of what
/// becomes of them.
struct GateRows {
  const double *passed, *gate, *grad;
};

/// The loops that are compiled for each instruction set; `more` is the activation alone, or the
/// gradient by the gate.
struct GateKernels {
  using Kernel = void (*)(const GateRows& rows, int64_t n, double* out, double* more);
  Kernel sigmoid, sigmoid_gradient, silu;
  Kernel gelu;  // within 2^-32
  Kernel gelu_by_tanh;
};
OPENACLNN_TARGET_DECLARE(extern const GateKernels kGateKernels)

}  // namespace openaclnn
