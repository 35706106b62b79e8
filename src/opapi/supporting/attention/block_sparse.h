// SPDX-License-Identifier: Apache-2.0
// BlockSparseAttention: rows and keys are cut into blocks, and a mask says which blocks of keys
// each block of rows sees.
#pragma once

#include <string_view>
#include <vector>

#include "supporting/attention/rope_rows.h"

namespace openaclnn::supporting {

/// Arguments that the forward and its gradient have in common.
struct BlockArguments {
  const Tensor &query, &key, &value, &blocks;
  const IntList &block_shape, &row_counts, &key_counts;
  const char *q_layout, *k_layout;
  int64_t served;  // heads of keys
  int64_t mask_type;
};

/// Those of either operator's parameters.
template <class P>
BlockArguments ArgumentsOf(const P& p) {
  return {p.query,
          p.key,
          p.value,
          p.blockSparseMask,
          p.blockShape,
          p.actualSeqLengthsOptional,
          p.actualSeqLengthsKvOptional,
          p.qInputLayout,
          p.kvInputLayout,
          p.numKeyValueHeads,
          p.maskType};
}

/// Rows and keys of a call: packed sequences one after the other, (T, heads, elements), or batches,
/// (batches, heads, rows, elements). Counts are those of each batch.
struct BlockCall {
  explicit BlockCall(const BlockArguments& of);
  /// Checks the arguments. The call may be made afterwards.
  static void Check(const BlockArguments& of, Checker& checker);

  /// The row of a tensor that belongs to a head of a batch.
  int64_t RowOf(int64_t batch, int64_t head, int64_t row) const {
    return packed ? (row_starts[static_cast<size_t>(batch)] + row) * heads + head
                  : (batch * heads + head) * most_rows + row;
  }
  int64_t KeyOf(int64_t batch, int64_t head, int64_t key) const {
    return packed ? (key_starts[static_cast<size_t>(batch)] + key) * served + head
                  : (batch * served + head) * most_keys + key;
  }
  int64_t group() const { return heads / served; }
  /// Blocks of rows, and of keys.
  int64_t tall() const { return DivideUp(most_rows, block_rows); }
  int64_t wide() const { return DivideUp(most_keys, block_keys); }

  bool packed;
  int64_t batches, heads, served, width, value_width;
  int64_t most_rows = 0, most_keys = 0;  // of a batch
  int64_t all_rows = 0;                  // rows of query's heads in memory
  int64_t all_keys = 0;                  // the same of keys
  int64_t block_rows, block_keys;
  std::vector<int64_t> rows, keys, row_starts, key_starts;  // of each batch
};

/// The operands of a call, as a task reads them.
struct BlockOperands {
  BlockOperands(const BlockArguments& of, double scale_value);

  /// Whether blocks of rows see blocks of keys, (batch, head, block of rows, block of keys).
  std::vector<double> Seen(const Buffers& buffers) const { return seen.All(buffers); }
  const double* SeenBy(const std::vector<double>& all, int64_t batch, int64_t head,
                       int64_t row) const {
    return all.data() +
           ((batch * call.heads + head) * call.tall() + row / call.block_rows) * call.wide();
  }
  /// Calls visit(key) for the keys that a row sees, in ascending order.
  template <class Visit>
  void ForKeys(const double* blocks, int64_t batch, const Visit& visit) const {
    const int64_t count = call.keys[static_cast<size_t>(batch)];
    for (int64_t first = 0; first < count; first += call.block_keys) {
      if (blocks[first / call.block_keys] == 0) continue;
      for (int64_t key = first; key < std::min(first + call.block_keys, count); ++key) visit(key);
    }
  }

  BlockCall call;
  PartsOfRows q, k, v;
  Elements seen;
  double scale;
};

}  // namespace openaclnn::supporting
