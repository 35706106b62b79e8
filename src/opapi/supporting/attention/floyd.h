// SPDX-License-Identifier: Apache-2.0
// FusedFloydAttention: each row of the query has keys and values of its own, sums of those of its
// first and of its second place.
#pragma once

#include <vector>

#include "supporting/attention/rope_rows.h"

namespace openaclnn::supporting {

/// Sizes of a call: heads of all batches, first and second places of rows, keys, elements.
struct FloydSizes {
  /// Those of queryIk, (batches, heads, first places, second places, elements), and of keyIj.
  FloydSizes(const Tensor& query, const Tensor& key)
      : heads(query.dim(1)),
        all_heads(query.dim(0) * heads),
        firsts(query.dim(2)),
        seconds(query.dim(3)),
        keys(key.dim(3)),
        width(query.dim(4)) {}

  int64_t Row(int64_t head, int64_t first, int64_t second) const {
    return (head * firsts + first) * seconds + second;
  }

  int64_t heads, all_heads, firsts, seconds, keys, width;
};

/// The operands of a call, and a row of it.
struct FloydOperands {
  FloydOperands(const FloydSizes& sizes, const Tensor& query, const Tensor& first_key,
                const Tensor& first_value, const Tensor& second_key, const Tensor& second_value,
                const Tensor& mask);

  /// The query of a row, its keys and values, (key, element), and what hides keys.
  struct Line {
    explicit Line(const FloydSizes& of)
        : q(static_cast<size_t>(of.width)),
          k(static_cast<size_t>(of.keys * of.width)),
          v(k.size()),
          hidden(static_cast<size_t>(of.keys)) {}
    std::vector<double> q, k, v, hidden;
  };
  void Load(const Buffers& buffers, int64_t head, int64_t first, int64_t second, Line* line) const;
  /// The scores of a row, -infinity where the mask hides a key.
  std::vector<double> Scores(const Line& line, double scale) const;

  FloydSizes of;
  PartsOfRows q, k1, v1, k2, v2, mask;
  bool masked;
};

/// Checks the shapes and types that the forward and its gradient share.
void CheckFloyd(const Tensor& query, const Tensor& first_key, const Tensor& first_value,
                const Tensor& second_key, const Tensor& second_value, const Tensor& mask,
                Checker& checker);

}  // namespace openaclnn::supporting
