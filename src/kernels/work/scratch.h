// SPDX-License-Identifier: Apache-2.0
// Sizes of workspaces.
#pragma once

#include <cstdint>

namespace openaclnn {

/// At most INT64_MAX bytes, which no device has: views that repeat their elements may ask for more
/// than a number holds.
constexpr uint64_t ScratchBytes(__int128 bytes) {
  return bytes < INT64_MAX ? static_cast<uint64_t>(bytes) : uint64_t{INT64_MAX};
}

/// Parts of a workspace, one after the other; each begins where a cache line does.
class ScratchParts {
 public:
  /// Where the next part begins, which has so many bytes.
  uint64_t Take(__int128 bytes) {
    const uint64_t at = this->bytes();
    end_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }
  uint64_t bytes() const { return ScratchBytes(end_); }

 private:
  static constexpr int kAlignment = 64;
  __int128 end_ = 0;
};

}  // namespace openaclnn
