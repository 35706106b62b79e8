// SPDX-License-Identifier: Apache-2.0
// ConvTbc: y[t,b,o] = bias[o] + sum over k, c of x[t+k-pad,b,c] * w[k,c,o].
//
// Letters: x the input, T_in steps of time, B sequences, C_in channels; w the weight, L taps of
// C_in by C_out; y the output, T_in + 2 pad + 1 - L steps. x is zero outside its steps.
#pragma once

#include <array>
#include <cstdint>

#include "conv_tbc/shared.h"
#include "frame/operation.h"
#include "kernels/gemm/gemm.h"

namespace openaclnn::conv_tbc::forward {

extern const Operator kOperator;

/// Positions in Params::operands().
enum OperandIndex { kSelf, kWeight, kBias, kOut };

struct Params {
  Input self, weight, bias;
  int64_t pad;
  Output out;
  int8_t cubeMathType;

  std::array<const Operand*, 4> operands() const { return {&self, &weight, &bias, &out}; }
};

struct Plan {
  DenseInput x, w;
  Gemm gemm;
  // The copies of x and w, then what the product needs.
  uint64_t x_at, w_at, gemm_at, workspace_size;
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::conv_tbc::forward
