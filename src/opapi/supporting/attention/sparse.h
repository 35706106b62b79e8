// SPDX-License-Identifier: Apache-2.0
// DeepSeek Sparse Attention: an indexer chooses keys for each row of the query,
// and attention sees these keys. Keys have one head, and may be in blocks of a cache.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/attention/attention.h"
#include "supporting/attention/device_lengths.h"
#include "supporting/attention/heads.h"

namespace openaclnn::supporting {

/// Where the rows and keys of each batch are, as a task reads them.
struct SparseSpans {
  std::vector<Span> rows, keys;
};

struct SparseCall {
  const Tensor &query, &key, &table, &row_lengths, &key_lengths;
  std::string_view q_layout, k_layout;
  const char *table_name, *layout_name;
  int64_t mode, before, after;
  bool whole = false;  // query and key are INT8
  bool apart = false;  // key has a type and a width of its own

  /// Ranks and shapes of these operands.
  void Check(Checker& checker) const;

  // The call must be checked before the functions below.

  bool packed() const { return q_layout == "TND"; }
  bool paged() const { return k_layout == "PA_BSND"; }
  int64_t batches() const { return packed() ? row_lengths.dim(0) : query.dim(0); }
  Heads Queries() const { return {query, q_layout, query.last_dim()}; }
  /// The heads of a tensor that has a row for each row of the query. It may have a dimension for
  /// key's one head.
  Heads PerRow(const Tensor& tensor) const;
  /// The heads of key, or of a tensor with its layout.
  Heads KeysOf(const Tensor& tensor) const;
  /// The most keys that a batch has.
  int64_t MostKeys() const;
  /// The blocks of a cache that have a batch's keys.
  AttentionPages Pages() const;
  /// (B, S, N, more) or (T, N, more), with the query's B, S and T.
  Shape RowShape(int64_t heads, int64_t more) const;
  /// How many of a batch's keys a row sees in mode 0 or 3.
  static int64_t SeenBy(int64_t mode, int64_t row, const Span& rows, const Span& keys);

 private:
  void CheckLists(Checker& checker) const;
};

/// Reads lengths and the table from device memory when a task runs.
class SparseReader {
 public:
  explicit SparseReader(const SparseCall& call);
  /// Reads the lengths. Returns 507035 if an entry of the table names no block of the cache.
  Status Read(const Buffers& buffers, SparseSpans* spans) const;
  const int32_t* Table(const Buffers& buffers) const;

 private:
  DeviceLengths rows_, keys_;
  AttentionPages pages_;
  Place table_;
  int64_t blocks_;
};

/// The blocks of keys that an index names for each row of the query.
struct ChosenKeys {
  /// `indices` is laid out as query, with the blocks of a row as its elements.
  ChosenKeys(const SparseCall& call, const Tensor& indices, int64_t block_size);

  /// A sequence for each row of the query, with all its blocks.
  std::vector<AttentionSequence> Sequences(const SparseCall& call) const;
  /// Sets the keys that rows see. Returns 507035 if an index names no block of its batch.
  Status Set(const void* table, const SparseSpans& spans,
             std::vector<AttentionSequence>* sequences) const;

  AttentionPages pages;
  int64_t mode, size, count, rows;
  bool packed;

 private:
  Status SetBatch(const void* table, int64_t batch, const Span& of_rows, const Span& of_keys,
                  std::vector<AttentionSequence>* sequences) const;
};

}  // namespace openaclnn::supporting
