// SPDX-License-Identifier: Apache-2.0
// Unwritten bytes, as disjoint ranges: of memory that is in use there are few or none.
#include "ascendcl/watch/unwritten.h"

#include <algorithm>
#include <iterator>

namespace openaclnn {

void UnwrittenBytes::Remove(const ByteRange& bytes, Ranges* ranges) {
  auto next = ranges->lower_bound(bytes.begin);
  if (next != ranges->begin()) {
    const auto before = std::prev(next);
    const uint64_t end = before->second;
    if (end > bytes.begin) before->second = bytes.begin;
    if (end > bytes.end) ranges->emplace_hint(next, bytes.end, end);
  }
  while (next != ranges->end() && next->first < bytes.end) {
    const uint64_t end = next->second;
    next = ranges->erase(next);
    if (end > bytes.end) next = ranges->emplace_hint(next, bytes.end, end);
  }
}

bool UnwrittenBytes::Covers(const Ranges& ranges, const ByteRange& bytes) {
  const auto next = ranges.upper_bound(bytes.begin);
  auto range = next == ranges.begin() ? ranges.end() : std::prev(next);
  uint64_t at = bytes.begin;
  for (; at < bytes.end && range != ranges.end() && range->first <= at; ++range) {
    if (range->second <= at) return false;
    at = range->second;
  }
  return at >= bytes.end;
}

void UnwrittenBytes::Allocate(const ByteRange& bytes) {
  Free(bytes);
  known_.emplace(bytes.begin, bytes.end);
  unwritten_.emplace(bytes.begin, bytes.end);
}

void UnwrittenBytes::Free(const ByteRange& bytes) {
  Remove(bytes, &known_);
  Remove(bytes, &unwritten_);
}

void UnwrittenBytes::Write(const ByteRange& bytes) {
  Remove(bytes, &unwritten_);
  if (unwritten_.size() > kMaxRanges) ForgetAll();
}

void UnwrittenBytes::Spoil(const ByteRange& bytes) {
  if (bytes.begin >= bytes.end || !Covers(known_, bytes)) return;
  Remove(bytes, &unwritten_);
  unwritten_.emplace(bytes.begin, bytes.end);
  if (unwritten_.size() > kMaxRanges) ForgetAll();
}

bool UnwrittenBytes::Contains(const ByteRange& bytes) const {
  return bytes.begin < bytes.end && Covers(unwritten_, bytes);
}

void UnwrittenBytes::ForgetAll() {
  known_.clear();
  unwritten_.clear();
}

}  // namespace openaclnn
