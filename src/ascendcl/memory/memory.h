// SPDX-License-Identifier: Apache-2.0
// Memory: every allocation of the runtime, found by address and pinned by the tasks that use it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "ascendcl/memory/address_range.h"
#include "ascendcl/memory/allocation.h"
#include "ascendcl/memory/arena.h"
#include "ascendcl/memory/arenas.h"
#include "ascendcl/memory/freed.h"
#include "ascendcl/memory/place.h"
#include "ascendcl/process/config.h"
#include "common/status.h"

namespace openaclnn {

/// Keeps an allocation's range from being given back.
class MemoryPin {
 public:
  MemoryPin() = default;
  MemoryPin(Allocation* allocation, std::byte* host, uint64_t bytes)
      : allocation_(allocation), host_(host), bytes_(bytes) {}
  MemoryPin(MemoryPin&& other) noexcept
      : allocation_(std::exchange(other.allocation_, nullptr)),
        host_(other.host_),
        bytes_(other.bytes_) {}
  MemoryPin& operator=(MemoryPin&& other) noexcept {
    std::swap(allocation_, other.allocation_);
    std::swap(host_, other.host_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryPin();

  /// Where this process reads and writes what the pinned address stands for.
  std::byte* host() const { return host_; }
  const Allocation* allocation() const { return allocation_; }
  /// For a task that keeps it.
  void Show(SeeKept see, void* to) const {
    if (allocation_ != nullptr) see(to, {*allocation_, host_, bytes_});
  }
  /// Hands the pin over to the caller, who ends it with Memory::Unpin.
  Allocation* Release() { return std::exchange(allocation_, nullptr); }

 private:
  Allocation* allocation_ = nullptr;
  std::byte* host_ = nullptr;
  uint64_t bytes_ = 0;
};

/// All allocations of the process. Safe to call from any thread.
class Memory {
 public:
  static Memory& Get();

  /// Device memory is counted against the device's limit in units of 32 bytes; `padded`: with the
  /// bytes that the product's runtime adds. `api` is whose call it is; its name outlives all.
  Status Allocate(const char* api, Location location, uint32_t device_id, uint64_t bytes,
                  bool padded, void** address);

  /// The address leaves the table at once; its range is given back when the last pin ends.
  /// The failure's text begins with `operand`.
  Status Free(Location location, const char* operand, const void* address);

  using Table = std::map<uintptr_t, Allocation*>;  // by the address that clients hold

  /// Frees the device memory that the program has left. First calls `tell` with that memory, then
  /// with the pinned memory, which stays, and then `end`. The program may free each block once
  /// more: that does nothing and succeeds, because programs free at their exit and some end with an
  /// error if a call fails there.
  void FreeDevices(void (*tell)(const Table& left), void (*end)());
  /// From now on freeing such a block is an error.
  void ForgetEnded();

  /// Counted against the device's limit while it lives.
  Status MakePhysical(uint32_t device_id, uint64_t bytes, std::shared_ptr<PhysicalMemory>* made);

  // Reserved addresses; the failures' texts begin with virPtr.
  Status Reserve(uint64_t bytes, void** address);
  Status Release(const void* address);
  /// Where memory that was unmapped there is still used, the call fails and sets *used to the
  /// host's address of that memory.
  Status Map(const void* address, const std::shared_ptr<PhysicalMemory>& memory,
             const std::byte** used);
  Status Unmap(const void* address);

  // Memory of the host that kernels reach by an address of the device; the failures' texts begin
  // with ptr.
  Status Register(uint32_t device_id, void* host, uint64_t bytes, void** address);
  Status Unregister(const void* host);
  /// Whether device memory lies at some of these addresses.
  bool HasDevice(const void* address, uint64_t bytes);
  /// Whether the program has not freed the allocation yet. The caller has a pin of it.
  bool IsLive(const Allocation& allocation);
  /// A library frees the memory that begins here while its own tasks are queued.
  void NoteOfLibrary(const void* device) noexcept;

  enum class Lookup { kPinned, kUnknown, kFreed, kFreedHost, kOutOfRange };

  /// Pins the allocation that `address` lies in. kUnknown: never was the runtime's; kFreedHost: it
  /// was pinned memory of the host.
  Lookup Pin(const void* address, uint64_t bytes, MemoryPin* pin);
  /// `host`, `bytes`: what the pin was of.
  void Unpin(Allocation* allocation, const void* host, uint64_t bytes);

  /// Notes a use, as Unpin does, for a pin that stays because its task will run again.
  static void NoteUse(Allocation& allocation);

  /// Whether some of what the pin is of is mapped at two addresses.
  bool HasOtherAddresses(const Allocation& allocation, const void* host, uint64_t bytes);

  /// False where the address never was the runtime's.
  bool Find(const void* address, Place* place);
  /// For handlers of signals: waits for no lock, and finds nothing where the table keeps being
  /// changed.
  bool TryFind(const void* address, Place* place);

  void Info(uint32_t device_id, size_t* free, size_t* total);

  /// With OPENACLNN_CHECK=full looks at what is beside allocations, for the API call `when`: at
  /// all, or, where there are very many, at those whose turn it is.
  void LookAtCanaries(const char* when) noexcept;

  /// For HoldDuringFork.
  std::shared_mutex& mutex() { return mutex_; }

 private:
  template <class T>
  friend T& Lasting();
  Memory() = default;

  void LookAtCanaries(const char* when, size_t most) noexcept;

  /// Moves the entry, made before there was an address, into the table. Returns the address.
  void* Enter(Table* entry, std::unique_ptr<Allocation> allocation) noexcept;
  Allocation* FindAllocation(const void* address);
  bool FindPlace(const void* address, Place* place);
  bool FindAt(const void* address, Place* place);
  bool FindBeside(const void* address, Place* place);
  Status AllocateDevice(const Config& config, Allocation* allocation, uint64_t bytes, bool padded);
  Status Count(uint32_t device_id, uint64_t bytes);
  void Uncount(uint32_t device_id, uint64_t bytes);
  Status AllocateHost(const Config& config, Allocation* allocation, uint64_t bytes);
  Arenas& ArenasOf(Location location) { return arenas_[static_cast<size_t>(location)]; }
  Arena& ArenaFor(Location location, const Config& config);
  void GiveBack(const Allocation& allocation) noexcept;
  uint64_t FreeOf(const Config& config, uint32_t device_id) const;
  Status CheckFree(const Config& config, uint32_t device_id, uint64_t bytes, uint64_t counted);
  uint64_t FreePinned(const Config& config) const;
  void MakeRoom(const Config& config, uint64_t bytes) noexcept;
  Allocation* FindRange(const void* address);
  /// Registered memory that has some of these bytes.
  Allocation* FindRegistered(const void* host, uint64_t bytes);
  void EndUse(Allocation* allocation, const char* when);
  bool EndedAt(const void* address);
  void NoteFreed(const Allocation& allocation) noexcept;
  /// Where no such allocation begins: says who has freed one there, if that is known.
  Status RefuseFree(Location location, const char* operand, const void* address) const;
  /// Pinned memory, which the program may free still.
  void ShowPinned(void (*show)(const Table& left));

  std::shared_mutex mutex_;  // guards what follows
  Table allocations_;
  Table ended_;                         // what FreeDevices freed: nulls
  std::array<Arenas, 2> arenas_;        // by location
  std::unique_ptr<FreedBlocks> freed_;  // unless nothing is checked
  std::map<uint32_t, uint64_t> used_;   // bytes counted against each device's limit
  uint64_t pinned_ = 0;                 // bytes counted against that of pinned memory
  uint64_t idle_ = 0;                   // freed ones, whose pages may still be the process's

  std::atomic<uintptr_t> next_looked_at_{0};  // an address of LookAtCanaries
};

/// In words, of any address, which may be of no allocation.
std::string PlaceOf(const void* address, uint64_t bytes);

}  // namespace openaclnn
