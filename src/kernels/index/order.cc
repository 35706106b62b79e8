// SPDX-License-Identifier: Apache-2.0
// Orders: by comparison where entries are few, by digits where they are many, and of a few of many
// by a bound that tightens.
#include "kernels/index/order.h"

#include <algorithm>
#include <array>

#include "kernels/index/order_scan.h"
#include "kernels/work/parallel.h"

namespace openaclnn {
namespace {

// Below, comparing is faster than four passes with their counts.
constexpr size_t kFew = 128;

constexpr int kDigitBits = 8;
constexpr size_t kDigits = 1 << kDigitBits;

// Entries of a block that one thread counts and moves.
constexpr int64_t kGrain = 1 << 17;
constexpr int64_t kMaxBlocks = 64;

using Counts = std::array<int64_t, kDigits>;

template <class Entry>
size_t Digit(const Entry& entry, int shift) {
  return static_cast<size_t>(entry.key() >> shift) % kDigits;
}

/// Where each block's entries of each digit begin: digits in order, in each the blocks in order.
void CountsToBegins(std::vector<Counts>* blocks) {
  int64_t begin = 0;
  for (size_t digit = 0; digit < kDigits; ++digit) {
    for (Counts& counts : *blocks) {
      const int64_t count = counts[digit];
      counts[digit] = begin;
      begin += count;
    }
  }
}

/// Digit by digit from the lowest on; each pass keeps the order of the one before.
template <class Entry>
void SortByDigits(std::vector<Entry>* entries) {
  const auto n = static_cast<int64_t>(entries->size());
  const int64_t blocks = BlockCount(n, kGrain, kMaxBlocks);
  typename Entry::Key differing = 0;
  for (const Entry& entry : *entries) differing |= entry.key() ^ entries->front().key();
  std::vector<Entry> moved(entries->size());
  std::vector<Counts> counts(static_cast<size_t>(blocks));
  for (int shift = 0; shift < static_cast<int>(8 * sizeof differing); shift += kDigitBits) {
    if (static_cast<size_t>(differing >> shift) % kDigits == 0) continue;  // the same in all
    const Entry* const from = entries->data();
    Entry* const to = moved.data();
    const auto each_block = [&](const auto& body) {
      ParallelFor(blocks, [&](int64_t block) {
        Counts own = counts[static_cast<size_t>(block)];
        const int64_t end = BlockBegin(n, blocks, block + 1);
        for (int64_t i = BlockBegin(n, blocks, block); i < end; ++i) {
          body(from[i], &own[Digit(from[i], shift)]);
        }
        counts[static_cast<size_t>(block)] = own;
      });
    };
    std::fill(counts.begin(), counts.end(), Counts{});
    each_block([](const Entry&, int64_t* count) { ++*count; });
    CountsToBegins(&counts);
    each_block([&](const Entry& entry, int64_t* place) { to[(*place)++] = entry; });
    entries->swap(moved);
  }
}

/// The first `count` entries, found in one pass: what is not before the last of the best so far is
/// passed over.
template <class Entry>
void SelectFirst(std::vector<Entry>* entries, size_t count) {
  const size_t room = 2 * count + 64;
  std::vector<Entry> best(room);
  size_t kept = 0;
  const auto tighten = [&] {
    std::nth_element(best.begin(), best.begin() + static_cast<int64_t>(count) - 1,
                     best.begin() + static_cast<int64_t>(kept));
    kept = count;
  };
  Entry bound;
  bool bounded = false;
  for (const Entry& entry : *entries) {
    if (bounded && !(entry < bound)) continue;
    best[kept++] = entry;
    if (kept < room) continue;
    tighten();
    bound = best[count - 1];
    bounded = true;
  }
  if (kept > count) tighten();
  std::sort(best.begin(), best.begin() + static_cast<int64_t>(count));
  std::copy_n(best.begin(), count, entries->begin());
}

}  // namespace

const OrderScans* KeyScans() { return OPENACLNN_TARGET_SELECT(kOrderScans); }

// A later key that is equal to the bound's is not before it.
void FirstInOrder(const std::vector<uint32_t>& keys, int64_t count,
                  std::vector<ShortEntry>* first) {
  const auto n = static_cast<int64_t>(keys.size());
  const int64_t room = 2 * count + 16;
  const auto below = KeyScans()->below;
  first->resize(static_cast<size_t>(room));
  const auto begin = first->begin();
  int64_t kept = 0, i = 0;
  for (; i < std::min(room, n); ++i)
    (*first)[static_cast<size_t>(kept++)] = {keys[static_cast<size_t>(i)], i};
  while (i < n) {
    std::nth_element(begin, begin + count - 1, begin + kept);
    kept = count;
    const uint32_t bound = (*first)[static_cast<size_t>(count) - 1].key();
    for (i = below(keys.data(), i, n, bound); i < n; i = below(keys.data(), i, n, bound)) {
      (*first)[static_cast<size_t>(kept++)] = {keys[static_cast<size_t>(i)], i};
      ++i;
      if (kept == room) break;
    }
  }
  std::partial_sort(begin, begin + count, begin + kept);
}

template <class Entry>
void PutInOrder(std::vector<Entry>* entries, int64_t begin, int64_t count) {
  const size_t n = entries->size();
  if (count == 1 && begin > 0) {
    std::nth_element(entries->begin(), entries->begin() + begin, entries->end());
  } else if (n <= kFew) {
    std::sort(entries->begin(), entries->end());
  } else if (begin == 0 && static_cast<size_t>(count) <= n / 8) {
    SelectFirst(entries, static_cast<size_t>(count));
  } else {
    SortByDigits(entries);
  }
}

template void PutInOrder(std::vector<ShortEntry>* entries, int64_t begin, int64_t count);
template void PutInOrder(std::vector<LongEntry>* entries, int64_t begin, int64_t count);

}  // namespace openaclnn
