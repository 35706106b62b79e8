// SPDX-License-Identifier: Apache-2.0
// ConvTbcBackward: the gradients of y[t,b,o] = bias[o] + sum over k, c of x[t+k-pad,b,c] *
// w[k,c,o].
//
// Letters: dy the gradient of y, T_out steps of time, B sequences, C_out channels; x the input,
// T_in steps, C_in channels; w the weight, L taps of C_in by C_out; dx, dw, db the gradients.
//   dx[s,b,c] = sum over k, o of dy[s+pad-k,b,o] * w[k,c,o]   where 0 <= s+pad-k < T_out
//   dw[k,c,o] = sum over t, b of x[t+k-pad,b,c] * dy[t,b,o]   where 0 <= t+k-pad < T_in
//   db[o]     = sum over t, b of dy[t,b,o]
#pragma once

#include <array>
#include <cstdint>

#include "conv_tbc/shared.h"
#include "frame/operation.h"
#include "kernels/gemm/gemm.h"
#include "kernels/move/dense_input.h"
#include "kernels/rows/segment_sum.h"

namespace openaclnn::conv_tbc::backward {

extern const Operator kOperator;

/// Positions in Params::operands().
enum OperandIndex { kSelf, kInput, kWeight, kBias, kGradInput, kGradWeight, kGradBias };

struct Params {
  Input self, input, weight, bias;
  int64_t pad;
  int8_t cubeMathType;
  Output gradInput, gradWeight, gradBias;

  std::array<const Operand*, 7> operands() const {
    return {&self, &input, &weight, &bias, &gradInput, &gradWeight, &gradBias};
  }
};

struct Plan {
  DenseInput dy, x, w;
  Gemm dx, dw;
  SegmentSumPlan db;
  int64_t rows;  // T_out * B
  // The copies of dy, x and w, then what the largest of the three needs: they follow each other.
  uint64_t dy_at, x_at, w_at, scratch_at, workspace_size;
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::conv_tbc::backward
