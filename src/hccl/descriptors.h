// SPDX-License-Identifier: Apache-2.0
// Descriptors: whether the process may open as many as are about to be.
#pragma once

#include <cstdint>

#include "common/status.h"

namespace openaclnn {

/// Of a communicator between processes. HCCL_E_UNAVAIL, with the limit, where they are too few:
/// UCX 1.13 ends processes that have none left.
Status RequireDescriptors(uint32_t ranks);

}  // namespace openaclnn
