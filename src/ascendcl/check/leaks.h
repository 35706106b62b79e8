// SPDX-License-Identifier: Apache-2.0
// Leaks: aclFinalize reports what the program has not freed or destroyed.
#pragma once

#include "ascendcl/memory/memory.h"

namespace openaclnn {

// The first leaks are warnings, one each; the log has their sum. They are not errors, because a
// program that ends may leave its memory. One thread at a time calls these, in this order.

/// Streams, events and executors, before contexts are closed.
void TellLeftHandles();
void TellLeaks(const Memory::Table& left);
void EndLeaks();

/// `show` calls `see` with each executor that the library above has left.
void ShowExecutorsBy(void (*show)(void (*see)(const void* executor, const char* maker)));

}  // namespace openaclnn
