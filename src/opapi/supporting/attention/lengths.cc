// SPDX-License-Identifier: Apache-2.0
// Lengths of sequences as lists give them.
#include "supporting/attention/lengths.h"

#include <algorithm>

namespace openaclnn::supporting {

void CheckLengths(const IntList& list, int64_t batches, int64_t most, Checker& checker) {
  const auto values = list.values();
  const auto size = static_cast<int64_t>(values.size());
  checker.That(size <= 1 || size >= batches, [&] {
    return Concat(list.name(), " size is ", size, ", expected 1 or at least ", batches,
                  ", the number of batches");
  });
  for (int64_t i = 0; i < std::min(size, batches) && checker.ok(); ++i) {
    const int64_t length = values[static_cast<size_t>(i)];
    checker.That(length >= 0 && length <= most, [&] {
      return Concat(list.name(), " value ", i, " is ", length, ", expected 0 to ", most);
    });
  }
}

Span LengthOf(std::span<const int64_t> lengths, int64_t batch, int64_t all) {
  if (lengths.empty()) return {0, all};
  return {0, lengths[lengths.size() == 1 ? 0 : static_cast<size_t>(batch)]};
}

std::vector<Span> SpansOf(std::span<const int64_t> ends) {
  std::vector<Span> spans;
  int64_t last = 0;
  for (const int64_t end : ends) {
    spans.push_back({last, std::max<int64_t>(end - last, 0)});
    if (end != 0) last = end;
  }
  return spans;
}

int64_t LastEnd(std::span<const int64_t> ends) {
  const auto last = std::find_if(ends.rbegin(), ends.rend(), [](int64_t end) { return end != 0; });
  return last == ends.rend() ? 0 : *last;
}

void CheckSameCount(const IntList& row_ends, const IntList& key_ends, Checker& checker) {
  checker.That(row_ends.values().size() == key_ends.values().size(), [&] {
    return Concat(key_ends.name(), " size is ", key_ends.values().size(), ", expected ",
                  row_ends.values().size(), ", that of ", row_ends.name());
  });
}

}  // namespace openaclnn::supporting
