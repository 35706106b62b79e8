// SPDX-License-Identifier: Apache-2.0
// Unwritten bytes: what of device memory nothing has written since it was allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "common/byte_runs.h"

namespace openaclnn {

/// Memory that it was never told of is not reported. It is not safe for concurrent use; its owner
/// locks.
class UnwrittenBytes {
 public:
  void Allocate(const ByteRange& bytes);
  void Free(const ByteRange& bytes);
  /// They are written, or count as if they were.
  void Write(const ByteRange& bytes);
  /// As new again: what is left there means nothing.
  void Spoil(const ByteRange& bytes);
  /// Whether none of them was written.
  bool Contains(const ByteRange& bytes) const;
  /// Nothing is said of any memory of now.
  void ForgetAll();

  /// Ranges without gaps.
  size_t size() const { return unwritten_.size(); }

  /// Memory in more pieces than this is not followed.
  static constexpr size_t kMaxRanges = size_t{1} << 18;

 private:
  using Ranges = std::map<uint64_t, uint64_t>;  // ends by first addresses, disjoint

  static void Remove(const ByteRange& bytes, Ranges* ranges);
  static bool Covers(const Ranges& ranges, const ByteRange& bytes);

  Ranges known_;  // allocations
  Ranges unwritten_;
};

}  // namespace openaclnn
