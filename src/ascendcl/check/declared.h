// SPDX-License-Identifier: Apache-2.0
// The accesses of the calling thread's next task, as a library above has declared them.
#pragma once

#include <vector>

#include "ascendcl/watch/race.h"

namespace openaclnn {

/// Each declaration counts once.
std::vector<MemoryAccess> TakeDeclared();

}  // namespace openaclnn
