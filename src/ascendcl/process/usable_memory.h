// SPDX-License-Identifier: Apache-2.0
// Usable memory: as much as this process may have of the machine's.
#pragma once

#include <cstdint>
#include <istream>

#include "common/status.h"

namespace openaclnn {

/// Finds what the machine has or, where that is less, what the process's control groups let it use.
/// A failure says which questions the system has refused, and what to set instead.
Status UsableMemory(uint64_t* bytes);

/// MemTotal of what reads as /proc/meminfo, in bytes; 0 if it is not there.
uint64_t TotalOf(std::istream& meminfo);

}  // namespace openaclnn
