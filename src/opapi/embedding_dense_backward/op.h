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

#include "kernels/indices.h"
#include "kernels/strided.h"
#include "kernels/target.h"
#include "nnopbase/operation.h"

namespace openaclnn::embedding_dense_backward {

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

/// Sums of more hits than this are cut into units of as many, which threads share; a multiple of a
/// power of two times 64, so that the cuts fall between subtrees.
inline constexpr int64_t kUnitHits = 1024;

/// Columns that one call of a kernel covers: an accumulator of 4 KiB stays in the first-level cache
/// beside the rows that stream through it.
inline constexpr int64_t kTileWidth = 1024;

/// The sum of `count` rows of dy over columns [column, column + width), by the tree. `rows` are the
/// addresses of element 0 of rows whose elements lie `step` apart.
struct RowSum {
  const std::byte* const* rows;
  int64_t count;
  int64_t column;
  int64_t width;  // at most kTileWidth
  int64_t step;
  int32_t dtype;
};

/// The loops that are compiled for each instruction set.
struct Kernels {
  void (*sum_rows)(const RowSum& sum, float* acc);
  /// acc[j] += term[j]
  void (*add)(const float* term, int64_t width, float* acc);
  /// out[j] = acc[j] / divisor, rounded to dtype
  void (*store)(const float* acc, int64_t width, float divisor, int32_t dtype, void* out);
};
OPENACLNN_TARGET_DECLARE(extern const Kernels kKernels)

struct Plan {
  const Kernels* kernels;
  int64_t tokens, width;  // M and D
  uint64_t num_weights;   // V
  int64_t padding_row;    // -1: none
  bool scale_by_count;
  int32_t grad_dtype, out_dtype;
  RowView grad, out;
  IndexView indices;
  // Scratch, each a part of the workspace: two arrays of hits, and for hot rows the units with
  // their partial sums. O(tokens), whatever V is.
  int64_t max_units;
  uint64_t workspace_size;
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::embedding_dense_backward
