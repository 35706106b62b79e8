// SPDX-License-Identifier: Apache-2.0
// EmbeddingDenseBackward as its formula says, in plain loops.
#pragma once

#include <algorithm>
#include <cstdint>

namespace openaclnn::embedding::backward {

struct ReferenceSizes {
  int64_t tokens, width;
  uint64_t num_weights, padding_idx;
  bool scale_by_count;
};

/// dw[v,:] = (1/s_v) * sum over i with idx[i] = v, v != padding_idx, of dy[i,:].
/// dy (tokens, width), idx (tokens) in [0, num_weights), dw (num_weights, width), count
/// (num_weights): the terms of each row's sums.
template <class T>
void Reference(const ReferenceSizes& n, const T* dy, const int64_t* idx, T* dw, int64_t* count) {
  std::fill_n(count, n.num_weights, int64_t{0});
  std::fill_n(dw, n.num_weights * n.width, T{});
  for (int64_t i = 0; i < n.tokens; ++i) {
    if (static_cast<uint64_t>(idx[i]) == n.padding_idx) continue;
    ++count[idx[i]];
    for (int64_t j = 0; j < n.width; ++j) dw[idx[i] * n.width + j] += dy[i * n.width + j];
  }
  if (!n.scale_by_count) return;
  for (uint64_t v = 0; v < n.num_weights; ++v) {
    const T s = static_cast<T>(static_cast<double>(std::max<int64_t>(1, count[v])));
    for (int64_t j = 0; j < n.width; ++j) dw[v * n.width + j] /= s;
  }
}

}  // namespace openaclnn::embedding::backward
