// SPDX-License-Identifier: Apache-2.0
// Tensors of one number and caches in blocks, for tests of Native Sparse Attention in inference.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "supporting/family_test.h"

namespace openaclnn::test {

using Lengths = std::vector<int64_t>;

inline DeviceTensor Filled(aclDataType dtype, const Dims& dims, double value) {
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  return Make(dtype, dims, Doubles(static_cast<size_t>(count), value));
}
inline DeviceTensor Halves(const Dims& dims, double value) {
  return Filled(ACL_FLOAT16, dims, value);
}

/// The rows of a tensor (keys, heads, elements), in blocks of a cache from the last one on.
inline Doubles Paged(const Doubles& rows, int64_t row_size, int64_t page, int64_t blocks) {
  Doubles cells(static_cast<size_t>(blocks * page * row_size), std::nan(""));
  const auto keys = static_cast<int64_t>(rows.size()) / row_size;
  for (int64_t key = 0; key < keys; ++key) {
    const int64_t block = blocks - 1 - key / page;
    std::copy_n(rows.begin() + key * row_size, row_size,
                cells.begin() + (block * page + key % page) * row_size);
  }
  return cells;
}

/// The blocks of such a cache.
inline DeviceTensor TableOf(int64_t blocks) {
  Doubles entries;
  for (int64_t i = blocks; i-- > 0;) entries.push_back(static_cast<double>(i));
  return Make(ACL_INT32, {1, blocks}, entries);
}

}  // namespace openaclnn::test
