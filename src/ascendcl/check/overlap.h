// SPDX-License-Identifier: Apache-2.0
// Overlap: reports of copies within the device whose source and destination share bytes.
#pragma once

#include "ascendcl/watch/race.h"

namespace openaclnn {

/// No page promises an order in which a device reads and writes them. A copy onto its own place
/// changes nothing, and is let be.
void WatchOverlap(const Caller& caller, const MemoryAccess& dst, const MemoryAccess& src) noexcept;

}  // namespace openaclnn
