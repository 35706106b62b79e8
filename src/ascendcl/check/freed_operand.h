// SPDX-License-Identifier: Apache-2.0
// Freed operands: reports of graphs that execute with memory which the program has given back.
#pragma once

#include "ascendcl/memory/allocation.h"
#include "ascendcl/watch/race.h"

namespace openaclnn {

/// Told of what a graph's task keeps, when an execution is launched.
struct FreedByProgram {
  Caller caller;  // the task's

  static void See(void* self, const Kept& kept) noexcept;
};

}  // namespace openaclnn
