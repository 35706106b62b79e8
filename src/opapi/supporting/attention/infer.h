// SPDX-License-Identifier: Apache-2.0
// Inference: finds the rows and keys of each batch from layouts, lengths and caches in blocks.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/attention/attention.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/lengths.h"

namespace openaclnn::supporting {

/// The dimensions of query, key and value, and of the result, by the letters of Heads.
struct InferLayout {
  std::string_view name, operands, result;

  /// Sequences follow each other without a dimension of batches.
  bool packed() const { return operands.find('T') != std::string_view::npos; }
};

/// The layout that inputLayout names.
const InferLayout& InferLayoutOf(const char* name);

/// Factors and offsets of quantised operands and of a quantised result. All are optional.
struct InferScales {
  // If query, key and value are INT8: factors of q k^T, of the weights before their product with
  // value, and of that product.
  const Tensor &scores = NoTensor(), &weights = NoTensor(), &values = NoTensor();
  const Tensor &out = NoTensor(), &out_offset = NoTensor();
  // Those of key, and behind them of value, if these are INT8 and the query is not.
  const Tensor &both = NoTensor(), &both_offset = NoTensor();
  int64_t both_mode = 0;
  const Tensor &k = NoTensor(), &k_offset = NoTensor(), &v = NoTensor(), &v_offset = NoTensor();
  int64_t k_mode = 0, v_mode = 0;
  const Tensor& q = NoTensor();  // of rows of query
  int64_t q_mode = 0;
};

/// The arguments of an operator of inference. Optional ones are absent by default.
struct InferArguments {
  const Tensor &query, &key, &value;
  const Tensor &shift, &mask;
  const Tensor &table = NoTensor(), &q_rope = NoTensor(), &k_rope = NoTensor();
  const IntList &row_counts = NoInts(), &key_counts;
  int64_t heads, served;  // of query; of key and value, 0 for as many
  double scale;
  int64_t before = 0, after = 0, mode, block_size = 0;
  const char* layout;
  const Tensor &out, &sums = NoTensor();
  bool wants_sums = false;
  const GivenList *keys = nullptr, *values = nullptr;  // if each batch has tensors of its own
  // Keys and values before those of every batch, and how many of them count.
  const Tensor &k_front = NoTensor(), &v_front = NoTensor();
  const IntList& front_counts = NoInts();
  // How many rows and keys lie after those that count. Without these tensors, all others do.
  const Tensor &q_padding = NoTensor(), &k_padding = NoTensor();
  const Tensor& sink = NoTensor();
  InferScales scales = {};
};

/// A call whose ranks are checked.
struct InferCall {
  explicit InferCall(const InferArguments& arguments);

  /// Checks shapes, then lengths, then masks.
  void Check(Checker& checker) const;
  /// Plans the call without the result's places. The arguments must be checked.
  Attention Plan() const;

  /// The number of batches: the query's, or the number of packed sequences.
  int64_t batches() const;
  /// The result's rows are as wide as value's.
  Shape ResultShape() const;
  /// (B, N, S, 1), or (T, N, 1).
  Shape SumsShape() const;
  /// The sequence of a batch with these rows and keys.
  AttentionSequence Sequence(int64_t batch, Span rows, Span keys) const;
  /// One sequence for each batch, then sequences of the rows that do not count, which become 0. If
  /// the query is padded, each batch has two of the latter, for rows before and after those that
  /// count.
  std::vector<AttentionSequence> Sequences() const;
  /// Rows of key that a batch has, without those of the front.
  int64_t RowsOfKey(int64_t batch) const;
  std::string_view sums_layout() const { return layout.packed() ? "TND" : "BNSD"; }

  InferArguments of;
  const InferLayout& layout;
  int64_t served;  // heads of key and value
  bool paged, grouped, roped, listed, fronted;
  Heads q, k, v, q_rope, k_rope;      // k, v and k_rope of the cache, if it is paged
  std::vector<Heads> each_k, each_v;  // of each batch, if they are listed
  Heads front_k, front_v;
  int64_t front;  // keys
  bool q_padded, k_padded;
  bool has_mode_mask;  // the mask of modes 2 to 4
  ScoreView mask, shift;
  std::span<const int64_t> q_lengths, k_lengths;
  /// The effective mode. A query with one row, not packed and without a rope, has no window.
  int64_t mode;
};

/// Checks that the parameters that are not among these arguments are absent.
void CheckOthersAbsent(const Params& p, const InferArguments& of, Checker& checker);

/// Returns 507035 if an entry of the table that these keys need names no block of the cache. Other
/// entries may have any value.
Status CheckEntries(const AttentionPages& pages, int64_t batch, const Span& keys,
                    const int32_t* table, int64_t blocks);
/// Checks the entries for all keys of all sequences.
Status CheckTable(const Attention& attention, const int32_t* table, int64_t blocks);

/// Does the other checks of phase 1, and plans the call.
void CheckInfer(const InferArguments& of, Checker& checker);
Plan PlanInfer(const InferArguments& of);

}  // namespace openaclnn::supporting
