// SPDX-License-Identifier: Apache-2.0
// Allocation: one entry of the table of memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ascendcl/memory/address_range.h"
#include "ascendcl/memory/arena.h"
#include "ascendcl/process/call_stack.h"

namespace openaclnn {

enum class Location { kDevice, kPinnedHost };

/// Whether what lies beside an allocation holds its canary. It is written for the first task that
/// uses device memory: what nobody touches has no pages.
enum class Canary : uint8_t { kNone, kBeingWritten, kWritten };

struct Allocation {
  Location location;
  uint32_t device_id;
  Block block;
  uint64_t counted = 0;  // bytes of the device's limit, or of that of pinned memory
  // One for being live, one for each pin; the range is given back when none is left.
  std::atomic<uint32_t> uses{1};
  std::atomic<const char*> last_task{nullptr};  // of those that have used it and ended
  std::atomic<Canary> canary{Canary::kNone};
  mutable std::atomic<bool> damaged{false};  // what is beside it was written: told once
  const char* freed_by = nullptr;            // the call that did
  std::atomic<bool> of_library{false};       // a library had it, and frees it behind its tasks
  // For a reserved range only: which parts of it hold memory.
  std::unique_ptr<AddressRange> range;
  const char* maker = nullptr;                 // the API call that made it
  std::unique_ptr<const CallStack> made_from;  // with OPENACLNN_CHECK=full

  /// Bytes from the first one to an address; far too many to one below it.
  uint64_t OffsetOf(const void* address) const {
    return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(block.device);
  }
};

/// The memory that a pin keeps: `bytes` of an allocation, where this process reads and writes them.
struct Kept {
  Allocation& allocation;
  const std::byte* host;
  uint64_t bytes;
};
using SeeKept = void (*)(void* to, const Kept& kept) noexcept;

}  // namespace openaclnn
