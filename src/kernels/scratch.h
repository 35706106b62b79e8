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

}  // namespace openaclnn
