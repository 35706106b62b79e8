// SPDX-License-Identifier: Apache-2.0
// Radix sort of hits, least digit first, which is stable.
#include "kernels/hits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace openaclnn {
namespace {

// 2,048 counters fit the first-level cache, and two passes cover four million rows.
constexpr int kDigitBits = 11;
constexpr int64_t kDigits = int64_t{1} << kDigitBits;

}  // namespace

Hit* SortHits(Hit* hits, Hit* scratch, int64_t count, uint64_t limit) {
  const int bits = limit > 1 ? std::bit_width(limit - 1) : 0;
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    std::array<int64_t, kDigits> begin{};
    const auto digit = [shift](const Hit& hit) { return hit.row >> shift & (kDigits - 1); };
    for (int64_t i = 0; i < count; ++i) ++begin[digit(hits[i])];
    int64_t sum = 0;
    for (int64_t& entry : begin) sum += std::exchange(entry, sum);
    for (int64_t i = 0; i < count; ++i) scratch[begin[digit(hits[i])]++] = hits[i];
    std::swap(hits, scratch);
  }
  return hits;
}

int64_t LowerBound(const Hit* hits, int64_t begin, int64_t end, int64_t row) {
  return std::lower_bound(hits + begin, hits + end, row,
                          [](const Hit& hit, int64_t value) { return hit.row < value; }) -
         hits;
}

}  // namespace openaclnn
