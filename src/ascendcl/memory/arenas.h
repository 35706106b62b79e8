// SPDX-License-Identifier: Apache-2.0
// Arenas: those of one location, each made for what was asked for then.
#pragma once

#include <memory>
#include <vector>

#include "ascendcl/memory/arena.h"

namespace openaclnn {

/// One of them hands out blocks; the others, of lives of the library that had other options, stay
/// while blocks of theirs are in use. Not safe for concurrent use; its owner locks.
class Arenas {
 public:
  /// The arena with these options, from which the next block comes. No change if it throws.
  Arena& For(const ArenaOptions& options);

  void Free(const Block& block) noexcept;
  void GiveBack() noexcept;
  void GiveAllBack() noexcept;

  // As of an arena.
  bool Covers(const void* device) const { return Find(device) != nullptr; }
  const void* DeviceAddress(const void* host) const;

 private:
  Arena* Find(const void* device) const;
  void DropEmpty() noexcept;

  std::vector<std::unique_ptr<Arena>> arenas_;  // the one that hands out last
};

}  // namespace openaclnn
