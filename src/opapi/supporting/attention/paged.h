// SPDX-License-Identifier: Apache-2.0
// Native Sparse Attention of inference: one row of the query for each batch, and caches of keys and
// values in blocks that a table names.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/attention/attention.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/lengths.h"

namespace openaclnn::supporting {

struct PagedCall {
  const Tensor &query, &key, &value, &table;
  const IntList& key_counts;
  const char* layout;  // TND, BSND or BSH
  int64_t heads, served, page_rows;
  double scale;

  void Check(Checker& checker) const;

  // The ranks must be checked before the functions below.

  /// The dimensions of tensors that have a row for each batch; T is that of batches.
  std::string_view letters() const;
  Heads Queries() const { return {query, letters(), WidthOf(query, letters(), heads)}; }
  Heads Keys() const { return Cached(key); }
  Heads Values() const { return Cached(value); }
  /// The result's rows are as wide as value's.
  Shape ResultShape() const;
  /// Checks the lengths of the query's sequences: 1 for each batch, or no list.
  void CheckOneRow(const IntList& lengths, Checker& checker) const;
  int64_t KeysOf(int64_t batch) const;
  /// Plans the call without its sequences and the result's places.
  Attention Plan() const;
  AttentionPages Pages() const;

 private:
  Heads Cached(const Tensor& cache) const;
  void CheckShapes(Checker& checker) const;
  void CheckTable(Checker& checker) const;
};

/// The call of an operator whose parameters have these names.
template <class P>
PagedCall PagedCallOf(const P& p, const IntList& key_counts) {
  return {.query = p.query,
          .key = p.key,
          .value = p.value,
          .table = p.blockTableOptional,
          .key_counts = key_counts,
          .layout = p.layoutOptional,
          .heads = p.numHeads,
          .served = p.numKeyValueHeads,
          .page_rows = p.pageBlockSize,
          .scale = p.scaleValue};
}

}  // namespace openaclnn::supporting
