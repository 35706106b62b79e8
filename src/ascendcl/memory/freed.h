// SPDX-License-Identifier: Apache-2.0
// Blocks that were freed lately, so that reports can say who freed what a program still uses.
#pragma once

#include <array>
#include <cstdint>

#include "ascendcl/memory/arena.h"

namespace openaclnn {

/// A block that was freed, and the call that did it.
struct Freed {
  Block block;
  bool device = true;  // or pinned memory of the host
  uint32_t device_id = 0;
  const char* maker = nullptr;
  const char* by = nullptr;
  const char* last_task = nullptr;
};

/// The newest of them; the oldest are forgotten. Its owner locks.
class FreedBlocks {
 public:
  void Add(const Freed& freed) noexcept { ring_[count_++ % ring_.size()] = freed; }

  /// The last block that held the address, as clients know it; null if none is known. Of use for
  /// addresses at which nothing is allocated now.
  const Freed* Find(const void* address) const noexcept {
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (uint64_t i = 0; i < ring_.size() && i < count_; ++i) {
      const Freed& freed = ring_[(count_ - 1 - i) % ring_.size()];
      if (at - reinterpret_cast<uintptr_t>(freed.block.device) < freed.block.bytes) return &freed;
    }
    return nullptr;
  }

 private:
  // As many as guarded addresses rest.
  std::array<Freed, 1024> ring_;
  uint64_t count_ = 0;
};

}  // namespace openaclnn
