// SPDX-License-Identifier: Apache-2.0
// Leaks: what a program is told of memory that it has left at aclFinalize.
#pragma once

#include "ascendcl/memory.h"

namespace openaclnn {

/// Warnings, one for each of the first, and a line of the log with their sum: a program that ends
/// may leave its memory to the end.
void TellLeaks(const Memory::Table& left);

}  // namespace openaclnn
