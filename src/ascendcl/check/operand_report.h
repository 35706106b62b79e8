// SPDX-License-Identifier: Apache-2.0
// Operand reports: what a program is told of mistakes with the memory of an operator's call.
#pragma once

#include "ascendcl/check/interface.h"

namespace openaclnn {

// Reports them as interface.h says.

void ReportLeft(const OpenaclnnLeft* left) noexcept;
void ReportMisaligned(const char* api, const char* operand, const void* address, uint64_t bytes,
                      uint64_t alignment) noexcept;
void ReportSharedWorkspace(const char* api, const char* other, const void* address,
                           uint64_t bytes) noexcept;

}  // namespace openaclnn
