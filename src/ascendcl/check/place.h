// SPDX-License-Identifier: Apache-2.0
// Places in memory, as reports name them.
#pragma once

#include <cstdint>
#include <string>

#include "ascendcl/check/bounded_text.h"
#include "ascendcl/memory.h"

namespace openaclnn {

/// "bytes 0 to 4095 of the 8192 that were allocated at 0x… on device 0 by aclrtMalloc" and, where
/// that is known, lines about who called it. For handlers of signals too; the place is what Memory
/// has found at the address.
void WritePlace(const void* address, uint64_t bytes, const Memory::Place& place, BoundedText* text);

std::string TextOf(const void* address, uint64_t bytes, const Memory::Place& place);

/// The same of any address, which may be of no allocation.
std::string PlaceOf(const void* address, uint64_t bytes);

}  // namespace openaclnn
