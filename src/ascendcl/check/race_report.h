// SPDX-License-Identifier: Apache-2.0
// Race report: what a program is told of its races, on standard error and in the log.
#pragma once

#include <vector>

#include "ascendcl/check/race.h"

namespace openaclnn {

/// Tells the race watch of a call, before it takes effect, and reports what it finds.
void WatchAccesses(const Caller& caller, const std::vector<MemoryAccess>& accesses) noexcept;

/// Ends the watch, and says how many races there were, if any.
void SummariseRaces() noexcept;

}  // namespace openaclnn
