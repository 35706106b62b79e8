// SPDX-License-Identifier: Apache-2.0
// Devices: their numbers (CheckDeviceId) and the contexts that live on them.
#pragma once

#include "ascendcl/process/config.h"

namespace openaclnn {

/// Ends every context of every device once its work is done.
void CloseAllContexts();

}  // namespace openaclnn
