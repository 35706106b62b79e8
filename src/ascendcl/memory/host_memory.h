// SPDX-License-Identifier: Apache-2.0
// Memory of the process that the runtime did not allocate.
#pragma once

#include <cstddef>
#include <cstdint>

namespace openaclnn {

/// Whether the process has memory at all of these addresses. It has none at a handle, and mostly
/// none at what it has freed or never had, where a copy would end it.
bool IsMapped(uintptr_t first, size_t bytes);

/// Whether memory that is mapped may be read; memory of which that cannot be told may.
bool IsReadable(uintptr_t first, size_t bytes);

}  // namespace openaclnn
