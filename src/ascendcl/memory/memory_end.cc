// SPDX-License-Identifier: Apache-2.0
// Memory that the program has not freed: aclFinalize reports and frees it.
#include <utility>

#include "ascendcl/memory/memory.h"
#include "ascendcl/process/handles.h"
#include "ascendcl/report/error.h"

namespace openaclnn {

void Memory::FreeDevices(void (*tell)(const Table& left), void (*end)()) {
  LookAtCanaries("aclFinalize", SIZE_MAX);  // of pinned memory, which stays, for the last time
  Table left;
  {
    std::lock_guard lock(mutex_);
    for (auto each = allocations_.begin(); each != allocations_.end();) {
      const auto entry = each++;
      if (entry->second->location == Location::kDevice) left.insert(allocations_.extract(entry));
    }
  }
  (void)Guard([&] {
    tell(left);
    ShowPinned(tell);
    end();
    return Status();
  });
  for (auto& [address, allocation] : left) {
    allocation->freed_by = "aclFinalize";
    EndUse(std::exchange(allocation, nullptr), "aclFinalize");
  }
  RuntimeHandles().RemoveAll(Kind::kPhysicalMemory);
  std::lock_guard lock(mutex_);
  ended_.merge(left);
  for (Arenas& arenas : arenas_) arenas.GiveBack();
}

// Pinned memory stays the program's. What another thread frees meanwhile lives until it was shown.
void Memory::ShowPinned(void (*show)(const Table& left)) {
  Table pinned;
  {
    std::lock_guard lock(mutex_);
    for (const auto& entry : allocations_) {
      if (entry.second->location == Location::kPinnedHost) pinned.insert(entry);
    }
    for (const auto& entry : pinned) entry.second->uses.fetch_add(1, std::memory_order_relaxed);
  }
  (void)Guard([&] {
    show(pinned);
    return Status();
  });
  for (const auto& entry : pinned) EndUse(entry.second, "aclFinalize");
}

void Memory::ForgetEnded() {
  std::lock_guard lock(mutex_);
  ended_.clear();
}

}  // namespace openaclnn
