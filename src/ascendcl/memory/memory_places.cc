// SPDX-License-Identifier: Apache-2.0
// Finds what an address lies in, lay in or lies beside, for reports and refusals.
#include <sched.h>

#include <iterator>

#include "acl/acl.h"
#include "ascendcl/memory/memory.h"

namespace openaclnn {
namespace {

Place PlaceAt(const Allocation& allocation, const void* address) {
  Place place = PlaceIn(allocation);
  place.offset = static_cast<int64_t>(allocation.OffsetOf(address));
  return place;
}

}  // namespace

// Finds the allocation in which an address of clients lies, or lay before it was freed.
bool Memory::FindAt(const void* address, Place* place) {
  if (const Allocation* allocation = FindAllocation(address)) {
    *place = PlaceAt(*allocation, address);
    return true;
  }
  const Freed* freed = freed_ != nullptr ? freed_->Find(address) : nullptr;
  if (freed == nullptr) return false;
  *place = {.location = freed->device ? Location::kDevice : Location::kPinnedHost,
            .begin = freed->block.device,
            .offset = static_cast<const std::byte*>(address) - freed->block.device,
            .bytes = freed->block.bytes,
            .device_id = freed->device_id,
            .maker = freed->maker,
            .freed_by = freed->by,
            .last_task = freed->last_task};
  return true;
}

// The live block that an address is a page or so behind, or before.
bool Memory::FindBeside(const void* address, Place* place) {
  constexpr uint64_t kNear = 8192;
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto next = allocations_.upper_bound(at);
  if (next != allocations_.begin()) {
    const Allocation& before = *std::prev(next)->second;
    *place = PlaceAt(before, address);
    if (before.OffsetOf(address) < before.block.bytes + kNear) return true;
  }
  if (next == allocations_.end() || next->first - at > kNear) return false;
  *place = PlaceAt(*next->second, address);
  return true;
}

// Addresses that are the runtime's no more may be anybody's: what was freed there is forgotten.
bool Memory::FindPlace(const void* address, Place* place) {
  if (const Allocation* allocation = FindAllocation(address)) {
    *place = PlaceAt(*allocation, address);
    return true;
  }
  for (const Location location : {Location::kDevice, Location::kPinnedHost}) {
    const Arenas& arenas = ArenasOf(location);
    const bool covered = arenas.Covers(address);
    const void* known = covered ? address : arenas.DeviceAddress(address);
    if (known == nullptr) continue;
    // A kernel's address of live memory never faults, so the program has got here from beside
    // another allocation.
    if (!covered && FindAllocation(known) != nullptr && FindBeside(address, place)) return true;
    if (!FindAt(known, place) && !FindBeside(known, place)) *place = {.location = location};
    place->kernel = !covered && location == Location::kDevice;
    return true;
  }
  return false;
}

bool Memory::Find(const void* address, Place* place) {
  std::shared_lock lock(mutex_);
  return FindPlace(address, place);
}

bool Memory::TryFind(const void* address, Place* place) {
  std::shared_lock lock(mutex_, std::try_to_lock);
  // Another thread may hold it for a moment; this one may, if it is our own mistake.
  for (int i = 0; i < 1000 && !lock.owns_lock(); ++i) {
    sched_yield();
    if (lock.try_lock()) break;
  }
  return lock.owns_lock() && FindPlace(address, place);
}

void Memory::NoteFreed(const Allocation& allocation) noexcept {
  if (freed_ == nullptr) return;
  freed_->Add({.block = allocation.block,
               .device = allocation.location == Location::kDevice,
               .device_id = allocation.device_id,
               .maker = allocation.maker,
               .by = allocation.freed_by,
               .last_task = allocation.last_task.load(std::memory_order_relaxed)});
}

Status Memory::RefuseFree(Location location, const char* operand, const void* address) const {
  const Freed* freed = freed_ != nullptr ? freed_->Find(address) : nullptr;
  const bool again = freed != nullptr && freed->block.device == address;
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat(operand, " value is ", address,
                       again ? Concat(", which ", freed->by, " has freed already") : "",
                       ", expected the start of a live ",
                       location == Location::kDevice ? "device" : "pinned host", " allocation"));
}

std::string PlaceOf(const void* address, uint64_t bytes) {
  Place place;
  if (Memory::Get().Find(address, &place)) return TextOf(address, bytes, place);
  return Concat(bytes, bytes == 1 ? " byte at " : " bytes at ", address);
}

}  // namespace openaclnn
