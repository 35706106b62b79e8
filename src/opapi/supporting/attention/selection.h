// SPDX-License-Identifier: Apache-2.0
// Which blocks of keys a row sees, by the weights of its compressed keys. Native Sparse Attention,
// arXiv:2502.11089, section 3.3.2.
#pragma once

#include <functional>

#include "kernels/attention/attention.h"
#include "supporting/attention/heads.h"

namespace openaclnn::supporting {

constexpr int64_t kMostSelectionBlocks = 4096;  // of a sequence

struct SelectionSizes {
  int64_t compressed;  // keys that a compressed key is made of
  int64_t stride;      // distance of compressed keys
  int64_t block;       // keys of a block
  int64_t count;       // blocks that are selected for a row
  const char* stride_name = "compressStride";

  void Check(int64_t most, Checker& checker) const;
};

class BlockSelection {
 public:
  /// `out` has the blocks of each row of the query, for each head of k, as its elements.
  BlockSelection(const SelectionSizes& sizes, const AttentionHeads& out)
      : wide_(sizes.block / sizes.stride),
        apart_(sizes.compressed / sizes.stride),
        count_(sizes.count),
        out_(out) {}

  /// Writes the blocks of a row: first those that are always selected, then those with the largest
  /// scores. Of blocks with equal scores the first comes first. -1 fills the rest.
  void Choose(const AttentionSequence& sequence, const AttentionWeights& of, int64_t blocks,
              const std::function<bool(int64_t block)>& always, std::byte* to) const;

 private:
  double Score(const float* weights, int64_t keys, int64_t block) const;

  int64_t wide_, apart_;  // compressed keys of a block, and those that a compressed one overlaps
  int64_t count_;
  AttentionHeads out_;
};

}  // namespace openaclnn::supporting
