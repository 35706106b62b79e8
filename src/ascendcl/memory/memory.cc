// SPDX-License-Identifier: Apache-2.0
// Memory: the table of allocations behind aclrtMalloc, aclrtMallocHost and their kin.
#include "ascendcl/memory/memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "acl/acl.h"
#include "ascendcl/memory/canary.h"
#include "ascendcl/memory/damage.h"
#include "ascendcl/process/fork.h"
#include "ascendcl/process/handles.h"
#include "ascendcl/report/error.h"
#include "ascendcl/report/running_task.h"
#include "ascendcl/watch/race_watch.h"
#include "ascendcl/watch/write_watch.h"
#include "common/hold_during_fork.h"
#include "common/lasting.h"

namespace openaclnn {
namespace {

// New memory holds this with OPENACLNN_CHECK=full, as an arena's guarded blocks do: a NaN in every
// float type, and an index far out of range.
constexpr int kNewPattern = 0xFF;

/// Whether an address at which nothing is allocated is one of a reserved range's second half, by
/// which kernels call what is mapped.
bool IsOfRange(const Memory::Table& allocations, const void* address) {
  const auto next = allocations.upper_bound(reinterpret_cast<uintptr_t>(address));
  if (next == allocations.begin()) return false;
  const Allocation& before = *std::prev(next)->second;
  const auto apart = static_cast<uint64_t>(before.block.host - before.block.device);
  return before.range != nullptr && !before.range->registered() &&
         before.OffsetOf(address) < apart + before.block.bytes;
}

}  // namespace

MemoryPin::~MemoryPin() {
  if (allocation_ != nullptr) Memory::Get().Unpin(allocation_, host_, bytes_);
}

Memory& Memory::Get() { return Lasting<Memory>(); }

namespace {

// Looking an address up may be a process's only use of the runtime: a child may look too.
std::shared_mutex& Mutex() { return Memory::Get().mutex(); }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

}  // namespace

Arena& Memory::ArenaFor(Location location, const Config& config) {
  return ArenasOf(location).For({
      .host_access = location == Location::kPinnedHost || config.host_access,
      .guard_pages = config.guard_pages,
      .canaries = kHaveCanaries && config.check != CheckLevel::kOff,
      .sparing = location == Location::kPinnedHost,
      .at_pages = location == Location::kPinnedHost,
  });
}

Status Memory::Allocate(const char* api, Location location, uint32_t device_id, uint64_t bytes,
                        bool padded, void** address) {
  Config config;
  Status status = CurrentConfig(&config);
  if (!status.ok()) return status;
  MarkUsed();
  auto allocation = std::make_unique<Allocation>();
  allocation->location = location;
  allocation->device_id = device_id;
  allocation->maker = api;
  if (config.check == CheckLevel::kFull) allocation->made_from = TakeCallStack();
  Table entry = {{0, allocation.get()}};
  std::unique_lock lock(mutex_);
  if (freed_ == nullptr && config.check != CheckLevel::kOff) {
    freed_ = std::make_unique<FreedBlocks>();
  }
  status = location == Location::kDevice ? AllocateDevice(config, allocation.get(), bytes, padded)
                                         : AllocateHost(config, allocation.get(), bytes);
  if (!status.ok()) return status;
  if (config.guard_pages) {
    lock.unlock();  // nobody knows the block before it is in the table
    Arena::Fill(allocation->block);
    allocation->canary = Canary::kWritten;
    lock.lock();
  } else if (location == Location::kPinnedHost) {
    WriteCanaryOf(*allocation);  // which the host may damage before any task
  }
  if (WatchingRaces()) {
    ForgetTouches(allocation->block.device, bytes);
    const bool unseen = location != Location::kDevice || config.host_access;
    if (!unseen) TellAllocated(allocation->block.device, bytes);
  }
  *address = Enter(&entry, std::move(allocation));
  return {};
}

void* Memory::Enter(Table* entry, std::unique_ptr<Allocation> allocation) noexcept {
  void* address = allocation->block.device;
  Table::node_type node = entry->extract(entry->begin());
  node.key() = reinterpret_cast<uintptr_t>(address);
  ended_.erase(node.key());
  allocations_.insert(std::move(node));
  (void)allocation.release();  // the table's now
  return address;
}

Allocation* Memory::FindAllocation(const void* address) {
  auto next = allocations_.upper_bound(reinterpret_cast<uintptr_t>(address));
  if (next == allocations_.begin()) return nullptr;
  Allocation* allocation = std::prev(next)->second;
  const uint64_t offset = allocation->OffsetOf(address);
  return offset < allocation->block.bytes ? allocation : nullptr;
}

Memory::Lookup Memory::Pin(const void* address, uint64_t bytes, MemoryPin* pin) {
  std::shared_lock lock(mutex_);
  Allocation* allocation = FindAllocation(address);
  if (allocation == nullptr) {
    const Arenas &device = ArenasOf(Location::kDevice), &pinned = ArenasOf(Location::kPinnedHost);
    if (device.Covers(address)) return Lookup::kFreed;
    if (pinned.Covers(address)) return Lookup::kFreedHost;
    // Right behind a block may lie what kernels call its start: no client has that address.
    const bool own = device.DeviceAddress(address) != nullptr ||
                     pinned.DeviceAddress(address) != nullptr || IsOfRange(allocations_, address);
    return own ? Lookup::kFreed : Lookup::kUnknown;
  }
  const uint64_t offset = allocation->OffsetOf(address);
  if (bytes > allocation->block.bytes - offset) return Lookup::kOutOfRange;
  if (allocation->range != nullptr) {
    if (!allocation->range->Holds(offset, bytes)) {
      return allocation->range->Holds(offset, 1) ? Lookup::kOutOfRange : Lookup::kFreed;
    }
    allocation->range->Use(offset, bytes);
  }
  allocation->uses.fetch_add(1, std::memory_order_relaxed);
  if (!HasCanary(*allocation)) WriteCanaryOf(*allocation);
  *pin = MemoryPin(allocation, allocation->block.host + offset, bytes);
  return Lookup::kPinned;
}

bool Memory::HasOtherAddresses(const Allocation& allocation, const void* host, uint64_t bytes) {
  if (allocation.range == nullptr) return false;
  const std::shared_lock lock(mutex_);
  const auto offset = static_cast<const std::byte*>(host) - allocation.block.host;
  return allocation.range->HasOtherAddresses(static_cast<uint64_t>(offset), bytes);
}

namespace {

[[gnu::always_inline]] inline void NoteUseBy(const char* task, Allocation& allocation) {
  if (task != nullptr) allocation.last_task.store(task, std::memory_order_relaxed);
  if (MayBeDamaged(allocation)) [[unlikely]]
    ReportDamage(allocation, task);
}

}  // namespace

void Memory::Unpin(Allocation* allocation, const void* host, uint64_t bytes) {
  if (allocation->range != nullptr) {
    AddressRange::Pieces left;  // counted off without the lock
    const std::lock_guard lock(mutex_);
    const auto offset = static_cast<const std::byte*>(host) - allocation->block.host;
    allocation->range->EndUse(static_cast<uint64_t>(offset), bytes, &left);
  }
  const char* const task = RunningTask();
  NoteUseBy(task, *allocation);
  EndUse(allocation, task);
}

void Memory::NoteUse(Allocation& allocation) { NoteUseBy(RunningTask(), allocation); }

void Memory::EndUse(Allocation* allocation, const char* when) {
  if (allocation->uses.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (allocation->range == nullptr) {
    ReportDamage(*allocation, when);
    GiveBack(*allocation);
  }
  delete allocation;
}

void Memory::GiveBack(const Allocation& allocation) noexcept {
  std::lock_guard lock(mutex_);
  const bool device = allocation.location == Location::kDevice;
  (device ? used_[allocation.device_id] : pinned_) -= allocation.counted;
  idle_ += allocation.counted;
  ArenasOf(allocation.location).Free(allocation.block);
  NoteFreed(allocation);
}

bool Memory::EndedAt(const void* address) {
  return ended_.erase(reinterpret_cast<uintptr_t>(address)) > 0;
}

Status Memory::Free(Location location, const char* operand, const void* address) {
  Allocation* allocation = nullptr;
  {
    std::lock_guard lock(mutex_);
    const auto found = allocations_.find(reinterpret_cast<uintptr_t>(address));
    if (found == allocations_.end() || found->second->location != location ||
        found->second->range != nullptr) {
      if (location == Location::kDevice && EndedAt(address)) return {};
      return RefuseFree(location, operand, address);
    }
    allocation = found->second;
    allocation->freed_by = location == Location::kDevice ? "aclrtFree" : "aclrtFreeHost";
    // Tasks that still use it keep it from being given back, and noted, until the last of them
    // ends.
    if (allocation->uses.load(std::memory_order_relaxed) > 1) NoteFreed(*allocation);
    allocations_.erase(found);
    if (WatchingRaces()) {
      ForgetTouches(address, allocation->block.bytes);
      TellFreed(address, allocation->block.bytes);
    }
  }
  EndUse(allocation, allocation->freed_by);
  return {};
}

Status Memory::MakePhysical(uint32_t device_id, uint64_t bytes,
                            std::shared_ptr<PhysicalMemory>* made) {
  std::shared_ptr<PhysicalMemory> memory;
  Status status = PhysicalMemory::Create(device_id, bytes, &memory);
  if (status.ok()) status = Count(device_id, bytes);
  if (!status.ok()) return status;
  memory->TellEnd([](uint32_t device, uint64_t size) { Get().Uncount(device, size); });
  if (WatchingRaces()) {
    memory->Fill(kNewPattern);
    memory->set_made_from(TakeCallStack());
  }
  *made = std::move(memory);
  return status;
}

namespace {

/// A range that `make(config, range)` makes for the API `maker`, not yet in the table.
template <class Make>
Status MakeRange(const char* maker, const Make& make, std::unique_ptr<Allocation>* made) {
  Config config;
  Status status = CurrentConfig(&config);
  if (!status.ok()) return status;
  MarkUsed();
  auto allocation = std::make_unique<Allocation>();
  allocation->location = Location::kDevice;
  status = make(config, &allocation->range);
  if (!status.ok()) return status;
  allocation->block = allocation->range->block();
  allocation->maker = maker;
  if (config.check == CheckLevel::kFull) allocation->made_from = TakeCallStack();
  *made = std::move(allocation);
  return status;
}

}  // namespace

Status Memory::Reserve(uint64_t bytes, void** address) {
  std::unique_ptr<Allocation> allocation;
  const auto make = [&](const Config& config, std::unique_ptr<AddressRange>* range) {
    return AddressRange::Reserve(bytes, config.host_access, range);
  };
  Status status = MakeRange("aclrtReserveMemAddress", make, &allocation);
  if (!status.ok()) return status;
  Table entry = {{0, allocation.get()}};
  std::lock_guard lock(mutex_);
  *address = Enter(&entry, std::move(allocation));
  return {};
}

Allocation* Memory::FindRange(const void* address) {
  Allocation* allocation = FindAllocation(address);
  return allocation != nullptr && allocation->range != nullptr ? allocation : nullptr;
}

Status Memory::Release(const void* address) {
  Allocation* allocation = nullptr;
  {
    std::lock_guard lock(mutex_);
    allocation = FindRange(address);
    if (allocation == nullptr || allocation->block.device != address) {
      if (EndedAt(address)) return {};
      return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("virPtr value is ", address,
                                                       ", expected the start of a reserved range"));
    }
    if (!allocation->range->empty()) {
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    "virPtr range holds memory, expected one from which all was unmapped");
    }
    allocations_.erase(reinterpret_cast<uintptr_t>(address));
  }
  EndUse(allocation, nullptr);
  return {};
}

Status Memory::Map(const void* address, const std::shared_ptr<PhysicalMemory>& memory,
                   const std::byte** used) {
  std::lock_guard lock(mutex_);
  Allocation* allocation = FindRange(address);
  const uint64_t offset = allocation != nullptr ? allocation->OffsetOf(address) : 1;
  if (offset % AddressRange::kGranularity != 0) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat("virPtr value is ", address,
                         ", expected an address in a reserved range, a multiple of 2 MiB from its "
                         "start"));
  }
  if (WatchingRaces()) ForgetTouches(address, memory->bytes());
  allocation->device_id = memory->device_id();
  return allocation->range->Map(offset, memory, used);
}

Status Memory::Unmap(const void* address) {
  AddressRange::Pieces left;  // counted off without the lock
  const std::lock_guard lock(mutex_);
  Allocation* allocation = FindRange(address);
  if (allocation == nullptr) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat("virPtr value is ", address, ", expected an address of mapped memory"));
  }
  return allocation->range->Unmap(allocation->OffsetOf(address), &left);
}

Allocation* Memory::FindRegistered(const void* host, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(host);
  for (const auto& [address, allocation] : allocations_) {
    if (allocation->range == nullptr || !allocation->range->registered()) continue;
    const auto first = reinterpret_cast<uintptr_t>(allocation->block.host);
    if (first < begin + bytes && begin < first + allocation->block.bytes) return allocation;
  }
  return nullptr;
}

bool Memory::HasDevice(const void* address, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  std::shared_lock lock(mutex_);
  for (auto next = allocations_.lower_bound(begin + bytes); next != allocations_.begin();) {
    const auto& [first, allocation] = *--next;
    if (first + allocation->block.bytes <= begin) return false;
    if (allocation->location == Location::kDevice) return true;
  }
  return false;
}

bool Memory::IsLive(const Allocation& allocation) {
  const std::shared_lock lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<uintptr_t>(allocation.block.device));
  return found != allocations_.end() && found->second == &allocation;
}

void Memory::NoteOfLibrary(const void* device) noexcept {
  const std::shared_lock lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<uintptr_t>(device));
  if (found != allocations_.end()) found->second->of_library = true;
}

Status Memory::Register(uint32_t device_id, void* host, uint64_t bytes, void** address) {
  std::unique_ptr<Allocation> allocation;
  const auto make = [&](const Config&, std::unique_ptr<AddressRange>* range) {
    return AddressRange::Register(host, bytes, range);
  };
  Status status = MakeRange("aclrtHostRegister", make, &allocation);
  if (!status.ok()) return status;
  allocation->device_id = device_id;
  Table entry = {{0, allocation.get()}};
  std::lock_guard lock(mutex_);
  if (FindRegistered(host, bytes) != nullptr) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat("ptr value is ", host, ", expected memory that is not registered yet"));
  }
  if (WatchingRaces()) ForgetTouches(allocation->block.device, allocation->block.bytes);
  *address = Enter(&entry, std::move(allocation));
  return {};
}

Status Memory::Unregister(const void* host) {
  Allocation* allocation = nullptr;
  {
    std::lock_guard lock(mutex_);
    allocation = FindRegistered(host, 1);
    if (allocation == nullptr || allocation->block.host != host) {
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    Concat("ptr value is ", host, ", expected memory that is registered"));
    }
    allocations_.erase(reinterpret_cast<uintptr_t>(allocation->block.device));
  }
  EndUse(allocation, nullptr);
  return {};
}

}  // namespace openaclnn
