// SPDX-License-Identifier: Apache-2.0
// Ranges of memory that a call names: pinned, or a refusal in words.
#pragma once

#include <cstddef>

#include "ascendcl/memory/memory.h"
#include "common/status.h"

namespace openaclnn {

/// Why an address has no memory for `bytes`.
Status Unresolved(Memory::Lookup found, const char* operand, const void* address, size_t bytes);

/// Pins device memory; null is 100000, and what is not device memory of one allocation 107000.
Status PinDeviceRange(const char* api, const char* operand, const void* address, size_t bytes,
                      MemoryPin* pin);

}  // namespace openaclnn
