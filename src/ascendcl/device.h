// SPDX-License-Identifier: Apache-2.0
// Devices: how many there are, and the contexts that live on them.
#pragma once

#include <cstdint>

#include "ascendcl/status.h"

namespace openaclnn {

/// 107001 unless the number is that of a device.
Status CheckDeviceId(const char* operand, int32_t device_id);

/// Keeps track of the contexts that aclrtCreateContext made, for aclrtSynchronizeDevice and
/// aclFinalize.
void AddContext(void* handle);
void RemoveContext(const void* handle);

/// Ends every context of every device once its work is done.
void CloseAllContexts();

}  // namespace openaclnn
