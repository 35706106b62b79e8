// SPDX-License-Identifier: Apache-2.0
// Caches of keys or values whose rows lie in blocks, and tokens, (token, head, element), that are
// copied to or from their rows.
#pragma once

#include <array>
#include <string_view>

#include "kernels/work/scratch.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// Whether a cache lies in groups of 32 bytes of a row: cacheMode PA_NZ.
inline bool InGroups(const char* mode) {
  return mode != nullptr && std::string_view(mode) == "PA_NZ";
}

/// Checks that a cache has blocks of rows of the tokens' heads and elements:
/// (blocks, rows, heads, elements), or in groups of 32 bytes (blocks, groups, rows, elements of a
/// group), or (blocks, heads, groups, rows, elements of a group). Checks its type, too.
void CheckCache(const Tensor& tokens, const Tensor& cache, bool grouped, Checker& checker);

/// Checks keys and values with their caches: each by CheckCache, the values for as many tokens and
/// heads as the keys, and both caches with the same number of blocks, and of rows in each.
void CheckCaches(const Tensor& keys, const Tensor& key_cache, const Tensor& values,
                 const Tensor& value_cache, bool grouped, Checker& checker);

/// Checks that a tensor is INT32 or INT64, with so many dimensions.
void CheckIntegers(const Tensor& tensor, uint32_t rank, Checker& checker);

/// Tokens and the cache that has rows for them. Both must be checked.
class CacheRows {
 public:
  CacheRows(const Tensor& tokens, const Tensor& cache, bool grouped);

  int64_t blocks() const { return blocks_; }
  int64_t rows() const { return rows_; }  // of a block
  int64_t width() const { return heads_ * elements_; }

  void ToCache(const Buffers& buffers, int64_t token, int64_t row) const;
  void FromCache(const Buffers& buffers, int64_t row, int64_t token) const;
  void Clear(const Buffers& buffers, int64_t token) const;

 private:
  /// Calls body(token's elements, the row's elements, how many) for elements of a head that lie at
  /// equal distances.
  template <class Body>
  void ForRuns(const Buffers& buffers, int64_t token, int64_t row, const Body& body) const;

  Place tokens_, cache_;
  int64_t heads_, elements_, bytes_, blocks_, rows_;
  int64_t token_step_, token_head_step_, token_element_step_;
  int64_t block_step_, row_step_, head_step_, group_step_, element_step_;
  int64_t group_;  // elements; without groups, those of a head
  bool joins_;     // groups go on from one head to the next
};

}  // namespace openaclnn::supporting
