// SPDX-License-Identifier: Apache-2.0
// Rows of numbers on their way into a cache: read, normalised, rounded, stored.
#include "supporting/attention/rope_rows.h"

#include <algorithm>
#include <cmath>

#include "supporting/tree_sum.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {

PartsOfRows::PartsOfRows(const Tensor& tensor)
    : place_(tensor.place),
      rows_(tensor, tensor.rank() - 1),
      step_(tensor.tensor().strides[tensor.rank() - 1]),
      bytes_(BytesOf(tensor)),
      load_(LoaderOf<double>(tensor.dtype())),
      store_(StorerOf<double>(tensor.dtype())) {}

std::byte* PartsOfRows::At(const Buffers& buffers, int64_t row, int64_t first) const {
  return place_(buffers) + (rows_(row) + first * step_) * bytes_;
}

void PartsOfRows::Load(const Buffers& buffers, int64_t row, int64_t first, int64_t n,
                       double* to) const {
  load_(At(buffers, row, first), step_ * bytes_, n, to);
}

void PartsOfRows::Store(const Buffers& buffers, int64_t row, int64_t first, int64_t n,
                        const double* from) const {
  store_(from, n, At(buffers, row, first), step_ * bytes_);
}

void NormalizeRow(const std::vector<double>& gamma, double epsilon, double* x) {
  TreeSum<double> squares;
  for (size_t i = 0; i < gamma.size(); ++i) squares.Add(x[i] * x[i]);
  const double root = std::sqrt(squares.Total() / static_cast<double>(gamma.size()) + epsilon);
  for (size_t i = 0; i < gamma.size(); ++i) x[i] = x[i] / root * gamma[i];
}

void Quantizer::Apply(size_t at, int64_t n, double* x) const {
  if (scale.empty()) return;
  for (int64_t i = 0; i < n; ++i) {
    const size_t j = at + static_cast<size_t>(i);
    const double scaled = how == kDivides ? x[i] / scale[j] : x[i] * scale[j];
    x[i] = offset.empty() ? scaled : scaled + offset[j];
  }
  Snaps().snap[static_cast<size_t>(Snap::kEven)](x, n, INT8_MIN, INT8_MAX);
}

void CheckCacheType(const Tensor& cache, const Tensor& like, const Tensor& scale,
                    Checker& checker) {
  if (!scale.present()) {
    checker.SameDtype(cache, like);
    return;
  }
  checker.That(cache.dtype() == ACL_INT8,
               [&] { return DtypeIs(cache, Concat("INT8, as ", scale.name(), " is given")); });
  checker.That(scale.dtype() == ACL_FLOAT, [&] { return DtypeIs(scale, "FLOAT"); });
}

RowsOfCache::RowsOfCache(const Tensor& cache, int64_t block_rows, const Steps& steps, int64_t group,
                         int64_t declared)
    : place_(cache.place),
      rows_(std::max<int64_t>(block_rows, 1)),
      group_(std::max<int64_t>(group, 1)),
      declared_(declared),
      bytes_(BytesOf(cache)),
      steps_(steps),
      store_(StorerOf<double>(cache.dtype())) {}

void RowsOfCache::Store(const Buffers& buffers, int64_t row, int64_t head, int64_t n,
                        const double* from) const {
  const int64_t own = row % rows_, block = row / rows_ * steps_.block + head * steps_.head;
  for (int64_t i = 0; i < n; i += group_) {
    const int64_t group = i / group_, place = (group * rows_ + own) * group_;
    const int64_t at = declared_ > 0
                           ? place / declared_ * steps_.row + place % declared_ * steps_.element
                           : own * steps_.row + group * steps_.group;
    store_(from + i, std::min(group_, n - i), place_(buffers) + (block + at) * bytes_,
           steps_.element * bytes_);
  }
}

Status CheckSlots(const char* name, int64_t limit, Slots* slots) {
  std::vector<std::pair<int64_t, size_t>> last;  // (row, token)
  for (size_t i = 0; i < slots->size(); ++i) {
    const int64_t slot = (*slots)[i];
    if (slot >= limit) {
      return Status(507035, Concat(name, " puts token ", i, " in row ", slot,
                                   ", expected less than ", limit, ", the rows of the cache"));
    }
    if (slot >= 0) last.emplace_back(slot, i);
  }
  std::sort(last.begin(), last.end());
  for (size_t i = 0; i + 1 < last.size(); ++i) {
    if (last[i].first == last[i + 1].first) (*slots)[last[i].second] = -1;
  }
  return {};
}

}  // namespace openaclnn::supporting
