// SPDX-License-Identifier: Apache-2.0
// Arenas: mostly there is one.
#include "ascendcl/memory/arenas.h"

#include <algorithm>

namespace openaclnn {

Arena& Arenas::For(const ArenaOptions& options) {
  if (!arenas_.empty() && arenas_.back()->options() == options) return *arenas_.back();
  const auto same = std::find_if(arenas_.begin(), arenas_.end(),
                                 [&](const auto& arena) { return arena->options() == options; });
  if (same != arenas_.end()) {
    std::rotate(same, same + 1, arenas_.end());
  } else {
    arenas_.push_back(std::make_unique<Arena>(options));
  }
  DropEmpty();
  return *arenas_.back();
}

void Arenas::DropEmpty() noexcept {
  const auto kept = std::remove_if(arenas_.begin(), arenas_.end() - 1,
                                   [](const auto& arena) { return arena->blocks() == 0; });
  arenas_.erase(kept, arenas_.end() - 1);
}

Arena* Arenas::Find(const void* device) const {
  for (const auto& arena : arenas_) {
    if (arena->Covers(device)) return arena.get();
  }
  return nullptr;
}

void Arenas::Free(const Block& block) noexcept {
  Arena* arena = arenas_.size() == 1 ? arenas_.back().get() : Find(block.device);
  arena->Free(block);
  if (arena->blocks() == 0 && arena != arenas_.back().get()) DropEmpty();
}

void Arenas::GiveBack() noexcept {
  for (const auto& arena : arenas_) arena->GiveBack();
}

void Arenas::GiveAllBack() noexcept {
  for (const auto& arena : arenas_) arena->GiveAllBack();
}

const void* Arenas::DeviceAddress(const void* host) const {
  for (const auto& arena : arenas_) {
    if (const void* device = arena->DeviceAddress(host)) return device;
  }
  return nullptr;
}

}  // namespace openaclnn
