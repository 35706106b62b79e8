// SPDX-License-Identifier: Apache-2.0
// Selected attention of Native Sparse Attention: each row of the query sees the keys of the blocks
// that an index names for it.
#pragma once

#include <utility>
#include <vector>

#include "kernels/attention/attention.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/lengths.h"

namespace openaclnn::supporting {

/// A call, or the call whose gradients are computed. Sequences are packed, layout TND.
struct SelectedCall {
  const Tensor &query, &key, &value, &chosen;
  const IntList &row_ends, &key_ends;
  int64_t heads, block_size, block_count, mode;
  double scale;

  void Check(const Tensor& mask, Checker& checker) const;

  int64_t rows() const { return query.dim(0); }
  int64_t kv_heads() const { return key.dim(1); }

  /// A plan with a sequence for each row, of the keys in its blocks. Rows after the last sequence
  /// see no keys.
  Attention Plan() const;
  /// A plan with a sequence for each block of keys, also for blocks after the last sequence. Lists
  /// say which rows see a block.
  Attention PlanByBlocks() const;
};

/// The blocks that indices choose. An index that is neither a block of its row's batch nor -1 gives
/// 507035.
struct ChosenBlocks {
  struct Batch {
    Span rows;
    int64_t blocks, first_block;  // of all batches'
  };

  explicit ChosenBlocks(const SelectedCall& call);
  ChosenBlocks(std::vector<Batch> of, int64_t heads, int64_t of_each)
      : batches(std::move(of)), kv_heads(heads), count(of_each), numbers(0) {}

  Status Check(const Attention& plan, const int32_t* table) const;
  /// The lists of PlanByBlocks: counts the rows of each block, then writes them.
  void List(const Attention& plan, const int32_t* table, int32_t* rows, int64_t* first) const;

  std::vector<Batch> batches;
  int64_t kv_heads, count;  // blocks for a row and a head
  int64_t numbers;          // blocks of all batches and behind them, for each head
};

}  // namespace openaclnn::supporting
