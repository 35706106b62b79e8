// SPDX-License-Identifier: Apache-2.0
// Write report: what a program is told that reads device memory which nothing has written.
#pragma once

#include <vector>

#include "ascendcl/watch/race.h"

namespace openaclnn {

/// Tells the write watch of a call, before it takes effect, and reports what it finds.
void WatchReads(const Caller& caller, const std::vector<MemoryAccess>& accesses) noexcept;

}  // namespace openaclnn
