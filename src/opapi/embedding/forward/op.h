// SPDX-License-Identifier: Apache-2.0
// Embedding: y[i,:] = w[idx[i],:].
//
// Letters: w the weight, V rows of D elements; idx the row of each token; y the output, one row a
// token. Elements are moved, never converted.
#pragma once

#include <array>
#include <cstdint>

#include "frame/operation.h"
#include "kernels/index/indices.h"
#include "kernels/move/strided.h"
#include "kernels/simd/stream.h"

namespace openaclnn::embedding::forward {

extern const Operator kOperator;

/// Positions in Params::operands().
enum OperandIndex { kWeight, kIndices, kOut };

struct Params {
  Input weight, indices;
  Output out;

  std::array<const Operand*, 3> operands() const { return {&weight, &indices, &out}; }
};

struct Plan {
  int64_t tokens, width;  // M and D
  uint64_t num_weights;   // V
  RowView weight, out;
  IndexView indices;
  const StreamKernels* streams;  // null unless rows go past the caches, if the first begins a line
  uint64_t workspace_size;       // the rows of all tokens, 8 bytes each
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::embedding::forward
