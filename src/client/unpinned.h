// SPDX-License-Identifier: Apache-2.0
// The words of a refusal where libascendcl.so has not pinned device memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ascendcl/interface.h"

namespace openaclnn {

/// Why `bytes` from `address` were not pinned. `subject` names the memory: "self data".
std::string WhyUnpinned(OpenaclnnPinResult found, std::string_view subject, const void* address,
                        uint64_t bytes);

}  // namespace openaclnn
