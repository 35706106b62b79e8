// SPDX-License-Identifier: Apache-2.0
// The work of EmbeddingDenseBackward: check indices, sort tokens by row, sum each row's tokens.
#include <algorithm>
#include <numeric>
#include <span>

#include "embedding/backward/op.h"

namespace openaclnn::embedding::backward {
namespace {

/// Rows of dw as segments of the sorted hits.
struct HitSegments {
  std::span<const Hit> hits;

  int64_t count() const { return static_cast<int64_t>(hits.size()); }
  int64_t Begin(int64_t row) const { return LowerBound(hits.data(), 0, count(), row); }
  int64_t End(int64_t row, int64_t begin) const {
    while (begin < count() && hits[begin].row == row) ++begin;
    return begin;
  }
  /// Without a branch that depends on how many hits a row has. Speed of 64 columns against one by
  /// one, on one thread and two of a Zen 4: 1.06 to 1.18.
  int64_t Ends(int64_t row, int64_t begin, int64_t most, std::span<int64_t> ends) const {
    auto rows = static_cast<int64_t>(ends.size());
    std::ranges::fill(ends, 0);
    for (int64_t i = begin; i < count() && hits[i].row - row < rows; ++i) {
      if (i - begin == most) rows = hits[i].row - row;
      ++ends[hits[i].row - row];
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    return rows;
  }
};

/// The hits of all tokens but those of the padding row, in order.
int64_t CollectHits(const Plan& plan, const int64_t* rows, Hit* hits) {
  int64_t count = 0;
  for (int64_t i = 0; i < plan.tokens; ++i) {
    hits[count] = {rows[i], i};
    count += rows[i] != plan.padding_row ? 1 : 0;
  }
  return count;
}

/// A row of more than kUnitRows hits shows in one look that far ahead.
void AddLongRows(const HitSegments& segments, SegmentSum* sum) {
  const std::span<const Hit> hits = segments.hits;
  for (int64_t i = 0; i + kUnitRows < segments.count(); ++i) {
    if (hits[i + kUnitRows].row != hits[i].row) continue;
    const int64_t end = LowerBound(hits.data(), i, segments.count(), hits[i].row + 1);
    sum->AddLongSegment(i, end);
    i = end - 1;
  }
}

}  // namespace

Status Run(const Plan& plan, const Buffers& buffers) {
  auto* hits = static_cast<Hit*>(buffers.workspace);
  Hit* spare = hits + plan.tokens;
  void* scratch = spare + plan.tokens;
  std::byte* const behind = static_cast<std::byte*>(scratch) + plan.sum.scratch_bytes();
  HitSegments segments;
  if (plan.tokens > 0) {
    auto* rows = reinterpret_cast<int64_t*>(spare);
    Status status =
        ReadIndices("indices", plan.indices, buffers.data[kIndices], plan.num_weights, rows);
    if (!status.ok()) return status;
    const int64_t count = CollectHits(plan, rows, hits);
    segments.hits = {SortHits(hits, spare, count, plan.num_weights), static_cast<size_t>(count)};
  }
  const void* dy = plan.dy.Take(buffers.data[kGrad], behind);
  SegmentSum sum(plan.sum, dy, buffers.data[kOut], scratch, segments.hits.data());
  AddLongRows(segments, &sum);
  sum.Run(static_cast<int64_t>(plan.num_weights), segments);
  return {};
}

}  // namespace openaclnn::embedding::backward
