// SPDX-License-Identifier: Apache-2.0
// Byte runs: the bytes that a strided view touches, as ranges without gaps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace openaclnn {

/// Addresses from begin up to, and without, end.
struct ByteRange {
  uint64_t begin;
  uint64_t end;

  bool operator==(const ByteRange&) const = default;
};

/// Views of more runs than this are not followed: each costs an entry of the shadow.
inline constexpr uint64_t kMaxRuns = 4096;

/// The runs of the view whose element [0, …, 0] is at `origin`; strides count elements. False, and
/// nothing, when they are more than kMaxRuns.
bool FindByteRuns(uint64_t origin, uint64_t element_bytes, std::span<const int64_t> dims,
                  std::span<const int64_t> strides, std::vector<ByteRange>* runs);

/// From the view's first byte to its last, and what lies between; empty without elements.
ByteRange FindByteSpan(uint64_t origin, uint64_t element_bytes, std::span<const int64_t> dims,
                       std::span<const int64_t> strides);

}  // namespace openaclnn
