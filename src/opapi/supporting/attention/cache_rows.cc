// SPDX-License-Identifier: Apache-2.0
// Rows of caches in blocks: their shapes, and copies of tokens.
#include "supporting/attention/cache_rows.h"

#include <algorithm>

#include "kernels/move/strided.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kGroupBytes = 32;

/// The dimension that has the rows of a block.
uint32_t RowsAt(const Tensor& cache, bool grouped) { return grouped ? cache.rank() - 2 : 1; }

}  // namespace

void CheckCache(const Tensor& tokens, const Tensor& cache, bool grouped, Checker& checker) {
  checker.Rank(tokens, 3).RankBetween(cache, 4, grouped ? 5 : 4).SameDtype(cache, tokens);
  if (!checker.ok()) return;
  const int64_t blocks = cache.dim(0), heads = tokens.dim(1), elements = tokens.dim(2),
                rows = cache.dim(RowsAt(cache, grouped));
  if (!grouped) return CheckShape(cache, {blocks, rows, heads, elements}, checker);
  const int64_t group = kGroupBytes / BytesOf(tokens);
  checker.That(elements % group == 0, [&] {
    return Concat(tokens.name(), " shape is ", ShapeText(tokens), ", expected a multiple of ",
                  group, " elements of a head, as cacheMode is PA_NZ");
  });
  if (cache.rank() == 5) {
    return CheckShape(cache, {blocks, heads, elements / group, rows, group}, checker);
  }
  CheckShape(cache, {blocks, WrappingProduct(heads, elements) / group, rows, group}, checker);
}

void CheckCaches(const Tensor& keys, const Tensor& key_cache, const Tensor& values,
                 const Tensor& value_cache, bool grouped, Checker& checker) {
  CheckCache(keys, key_cache, grouped, checker);
  CheckCache(values, value_cache, grouped, checker);
  if (!checker.ok()) return;
  CheckShape(values, {keys.dim(0), keys.dim(1), values.dim(2)}, checker);
  if (!checker.ok()) return;
  const int64_t blocks = key_cache.dim(0), rows = key_cache.dim(RowsAt(key_cache, grouped));
  const bool same =
      value_cache.dim(0) == blocks && value_cache.dim(RowsAt(value_cache, grouped)) == rows;
  checker.That(same, [&] {
    return Concat(value_cache.name(), " shape is ", ShapeText(value_cache), ", expected ", blocks,
                  " blocks of ", rows, " rows, those of ", key_cache.name());
  });
}

void CheckIntegers(const Tensor& tensor, uint32_t rank, Checker& checker) {
  checker.Rank(tensor, rank);
  checker.That(tensor.dtype() == ACL_INT32 || tensor.dtype() == ACL_INT64,
               [&] { return DtypeIs(tensor, "INT32, INT64"); });
}

CacheRows::CacheRows(const Tensor& tokens, const Tensor& cache, bool grouped)
    : tokens_(tokens.place),
      cache_(cache.place),
      heads_(tokens.dim(1)),
      elements_(tokens.dim(2)),
      bytes_(BytesOf(tokens)),
      blocks_(cache.dim(0)),
      rows_(cache.dim(RowsAt(cache, grouped))),
      group_(grouped ? kGroupBytes / bytes_ : std::max<int64_t>(elements_, 1)),
      joins_(grouped && cache.rank() == 4) {
  const auto& of_token = tokens.tensor().strides;
  const auto& of_cache = cache.tensor().strides;
  const uint32_t last = cache.rank() - 1;
  token_step_ = of_token[0];
  token_head_step_ = of_token[1];
  token_element_step_ = of_token[2];
  block_step_ = of_cache[0];
  row_step_ = of_cache[RowsAt(cache, grouped)];
  head_step_ = grouped ? of_cache[1] : of_cache[2];
  group_step_ = grouped ? of_cache[last - 2] : 0;
  element_step_ = of_cache[last];
}

template <class Body>
void CacheRows::ForRuns(const Buffers& buffers, int64_t token, int64_t row,
                        const Body& body) const {
  std::byte* const of_token = tokens_(buffers) + token * token_step_ * bytes_;
  std::byte* const of_row =
      cache_(buffers) + (row / rows_ * block_step_ + row % rows_ * row_step_) * bytes_;
  for (int64_t head = 0; head < heads_; ++head) {
    for (int64_t i = 0; i < elements_;) {
      // A head's elements are whole groups.
      const int64_t group = (joins_ ? head * elements_ + i : i) / group_;
      const int64_t n = std::min(group_, elements_ - i);
      const int64_t at = (joins_ ? 0 : head * head_step_) + group * group_step_;
      body(of_token + (head * token_head_step_ + i * token_element_step_) * bytes_,
           of_row + at * bytes_, n);
      i += n;
    }
  }
}

void CacheRows::ToCache(const Buffers& buffers, int64_t token, int64_t row) const {
  ForRuns(buffers, token, row, [&](const std::byte* from, std::byte* to, int64_t n) {
    CopyStrided(from, token_element_step_, to, element_step_, n, bytes_);
  });
}

void CacheRows::FromCache(const Buffers& buffers, int64_t row, int64_t token) const {
  ForRuns(buffers, token, row, [&](std::byte* to, const std::byte* from, int64_t n) {
    CopyStrided(from, element_step_, to, token_element_step_, n, bytes_);
  });
}

void CacheRows::Clear(const Buffers& buffers, int64_t token) const {
  for (int64_t head = 0; head < heads_; ++head) {
    ZeroStrided(tokens_(buffers) + (token * token_step_ + head * token_head_step_) * bytes_,
                token_element_step_, elements_, bytes_);
  }
}

}  // namespace openaclnn::supporting
