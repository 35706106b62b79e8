// SPDX-License-Identifier: Apache-2.0
// What a library above has declared of the calling thread's next task.
#pragma once

#include <vector>

#include "ascendcl/check/race.h"

namespace openaclnn {

/// Each declaration counts once.
std::vector<MemoryAccess> TakeDeclared();

}  // namespace openaclnn
