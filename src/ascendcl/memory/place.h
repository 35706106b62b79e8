// SPDX-License-Identifier: Apache-2.0
// Places in memory, as reports name them.
#pragma once

#include <cstdint>
#include <string>

#include "ascendcl/memory/allocation.h"
#include "ascendcl/process/bounded_text.h"
#include "ascendcl/process/call_stack.h"

namespace openaclnn {

/// The allocation in which an address lies or, where nobody may touch it, beside which it lies. It
/// has no beginning if memory of the runtime was there and is no more.
struct Place {
  Location location = Location::kDevice;
  const void* begin = nullptr;
  int64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t device_id = 0;
  bool reserved = false;
  const char* maker = nullptr;
  CallStack made_from = {};
  bool kernel = false;             // an address that tasks use, and not the host
  const char* freed_by = nullptr;  // the call; of what is not allocated any more
  const char* last_task = nullptr;
};

/// The beginning of an allocation.
Place PlaceIn(const Allocation& allocation);

/// "bytes 0 to 4095 of the 8192 that were allocated at 0x… on device 0 by aclrtMalloc" and, where
/// that is known, lines about who called it. For handlers of signals too; the place is what Memory
/// has found at the address.
void WritePlace(const void* address, uint64_t bytes, const Place& place, BoundedText* text);

std::string TextOf(const void* address, uint64_t bytes, const Place& place);

}  // namespace openaclnn
