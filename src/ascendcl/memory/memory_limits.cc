// SPDX-License-Identifier: Apache-2.0
// Limits of memory: as much as a device has, and what pinned memory and it share of the machine.
#include <algorithm>

#include "acl/acl.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/process/fork.h"

namespace openaclnn {
namespace {

/// The runtime's documented rounding.
uint64_t RoundedBytes(uint64_t bytes) { return (bytes + 31) / 32 * 32; }

constexpr uint64_t Less(uint64_t value, uint64_t by) { return value - std::min(value, by); }

/// A device and pinned memory share so much: all of it is memory of this machine. A device may be
/// said to have more than the machine; then that is taken on trust.
uint64_t Shared(const Config& config) {
  return std::max(config.device_memory, config.pinned_memory);
}

}  // namespace

uint64_t Memory::FreeOf(const Config& config, uint32_t device_id) const {
  const auto found = used_.find(device_id);
  const uint64_t used = found != used_.end() ? found->second : 0;
  return std::min(Less(config.device_memory, used), Less(Less(Shared(config), pinned_), used));
}

uint64_t Memory::FreePinned(const Config& config) const {
  uint64_t most = 0;  // of any device: several may together have been given more than there is
  for (const auto& [device, used] : used_) most = std::max(most, used);
  return std::min(Less(config.pinned_memory, pinned_), Less(Less(Shared(config), most), pinned_));
}

// Freed blocks keep pages for the next block of their arena. A block of the other one, or of
// another size, cannot have them, and the machine may have no more.
void Memory::MakeRoom(const Config& config, uint64_t bytes) noexcept {
  uint64_t most = pinned_ + idle_;
  for (const auto& [device, used] : used_) most += used;
  // Looking through all free ranges takes milliseconds where there are thousands.
  constexpr uint64_t kWorthIt = uint64_t{64} << 20;
  if (idle_ < kWorthIt || bytes <= Less(config.pinned_memory, most)) return;
  for (Arenas& arenas : arenas_) arenas.GiveAllBack();
  idle_ = 0;
}

Status Memory::CheckFree(const Config& config, uint32_t device_id, uint64_t bytes,
                         uint64_t counted) {
  const uint64_t available = FreeOf(config, device_id);
  if (bytes <= available && counted <= available) return {};
  return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                Concat("size value is ", bytes, ", expected at most the ", available,
                       " bytes that are free of device ", device_id, "'s ", config.device_memory));
}

Status Memory::AllocateDevice(const Config& config, Allocation* allocation, uint64_t bytes,
                              bool padded) {
  const int64_t padding = padded ? config.product->rules->malloc_padding : 0;
  const uint64_t counted = RoundedBytes(bytes) + static_cast<uint64_t>(padding);
  Status status = CheckFree(config, allocation->device_id, bytes, counted);
  if (!status.ok()) return status;
  MakeRoom(config, counted);
  if (!ArenaFor(Location::kDevice, config).Allocate(bytes, &allocation->block)) {
    return NoAddresses(bytes);
  }
  allocation->counted = counted;
  used_[allocation->device_id] += counted;
  return {};
}

// From an arena too: what was freed is known as such while its addresses are not used again, and by
// nobody but the next pinned memory.
Status Memory::AllocateHost(const Config& config, Allocation* allocation, uint64_t bytes) {
  const uint64_t available = FreePinned(config);
  const uint64_t counted =
      bytes <= available ? (bytes + Arena::kPage - 1) / Arena::kPage * Arena::kPage : bytes;
  if (counted > available) {
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  Concat("size value is ", bytes, ", expected at most the ", available,
                         " bytes that are free of the host's ", config.pinned_memory,
                         ", which pinned and device memory share"));
  }
  MakeRoom(config, counted);
  if (!ArenaFor(Location::kPinnedHost, config).Allocate(bytes, &allocation->block)) {
    return NoAddresses(bytes);
  }
  allocation->counted = counted;
  pinned_ += counted;
  return {};
}

Status Memory::Count(uint32_t device_id, uint64_t bytes) {
  Config config;
  Status status = CurrentConfig(&config);
  if (!status.ok()) return status;
  MarkUsed();
  std::lock_guard lock(mutex_);
  status = CheckFree(config, device_id, bytes, bytes);
  if (!status.ok()) return status;
  MakeRoom(config, bytes);
  used_[device_id] += bytes;
  return status;
}

void Memory::Uncount(uint32_t device_id, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  used_[device_id] -= bytes;
}

void Memory::Info(uint32_t device_id, size_t* free, size_t* total) {
  Config config;
  *free = *total = 0;
  if (!CurrentConfig(&config).ok()) return;
  std::shared_lock lock(mutex_);
  *total = config.device_memory;
  *free = FreeOf(config, device_id);
}

}  // namespace openaclnn
