// SPDX-License-Identifier: Apache-2.0
// What libnnopbase has declared of the calling thread's next task.
#pragma once

#include <vector>

#include "ascendcl/check/race.h"

namespace openaclnn {

/// Whether libnnopbase is to look for tasks that compute in one workspace at once.
void WatchWorkspaces(bool watch);

/// Each declaration counts once.
std::vector<MemoryAccess> TakeDeclared();

}  // namespace openaclnn
