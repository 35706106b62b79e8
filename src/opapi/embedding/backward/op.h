// SPDX-License-Identifier: Apache-2.0
// EmbeddingDenseBackward: dw[v,:] = (1/s_v) * sum over tokens i with idx[i] = v of dy[i,:].
//
// Letters: dy the gradient of the output, one row of D elements a token; idx the token's row;
// dw the gradient of the weight, V rows; s_v the count of v if scaleGradByFreq, else 1. A row that
// no token hits, and row paddingIdx, is zero. Sums are FP32 in one order: tokens ascending, at most
// 64 in sequence, then pairs of neighbours.
#pragma once

#include <array>
#include <cstdint>

#include "frame/operation.h"
#include "kernels/index/indices.h"
#include "kernels/move/dense_input.h"
#include "kernels/rows/segment_sum.h"

namespace openaclnn::embedding::backward {

extern const Operator kOperator;

/// Positions in Params::operands().
enum OperandIndex { kGrad, kIndices, kOut };

struct Params {
  Input grad, indices;
  uint64_t numWeights, paddingIdx;
  bool scaleGradByFreq;
  Output out;

  std::array<const Operand*, 3> operands() const { return {&grad, &indices, &out}; }
};

struct Plan {
  int64_t tokens;        // M
  uint64_t num_weights;  // V
  int64_t padding_row;   // -1: none
  IndexView indices;
  DenseInput dy;
  SegmentSumPlan sum;
  // Two arrays of hits, then the scratch of the sums and the copy of dy: O(tokens), whatever V is.
  uint64_t workspace_size;
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::embedding::backward
