// SPDX-License-Identifier: Apache-2.0
// The engine of communicators whose ranks are all in this process: a message is a copy.
#pragma once

#include <memory>
#include <vector>

#include "hccl/engine/engine.h"

namespace openaclnn {

/// One engine for each rank.
std::vector<std::unique_ptr<Engine>> MakeProcessEngines(uint32_t ranks);

}  // namespace openaclnn
