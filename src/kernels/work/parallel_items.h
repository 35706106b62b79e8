// SPDX-License-Identifier: Apache-2.0
// Items of one task's work, spread over threads that have memory of their own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/work/parallel.h"

namespace openaclnn {

/// Runs body(item, slot) for all items; those of one slot follow each other, so that a slot may
/// have memory of its own. A slot takes a few items at a time, so that none waits for one that
/// started late.
template <class Body>
void ParallelItems(int64_t items, int64_t slots, bool is_long, const Body& body) {
  constexpr int64_t kTakes = 16;  // times that a slot comes back, where there are so many
  const int64_t grain = std::max<int64_t>(items / (slots * kTakes), 1);
  std::atomic<int64_t> next = 0;
  ParallelFor(slots, is_long, [&](int64_t slot) {
    for (int64_t item; (item = next.fetch_add(grain, std::memory_order_relaxed)) < items;) {
      const int64_t end = std::min(item + grain, items);
      for (; item < end; ++item) body(item, slot);
    }
  });
}

}  // namespace openaclnn
