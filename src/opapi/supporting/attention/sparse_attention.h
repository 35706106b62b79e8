// SPDX-License-Identifier: Apache-2.0
// SparseFlashAttention and its gradient: operands that both have.
#pragma once

#include "supporting/attention/sparse.h"

namespace openaclnn::supporting {

struct SparseOperands {
  const SparseCall& call;
  const Tensor &value, &indices, &q_rope, &k_rope;
  int64_t block_size;
  double scale;

  void Check(Checker& checker) const;
  /// Checks largest scores and sums: FLOAT, with their heads behind the rows.
  void CheckNumbers(const Tensor& numbers, Checker& checker) const;
  AttentionHeads Numbers(const Tensor& tensor) const;
  /// The kernels' plan, without sequences and results.
  Attention Plan() const;
};

}  // namespace openaclnn::supporting
