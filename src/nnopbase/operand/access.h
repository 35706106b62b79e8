// SPDX-License-Identifier: Apache-2.0
// Access: what a task of an operator touches, and what it was refused.
#pragma once

#include <span>

#include "client/check.h"
#include "common/status.h"
#include "nnopbase/operand/operand.h"

namespace openaclnn {

extern const uint32_t* const kWatchingWorkspaces;

inline bool WorkspacesAreWatched() {
  return __atomic_load_n(kWatchingWorkspaces, __ATOMIC_RELAXED) != 0;
}

/// The accesses of a call: operands with elements, and the workspace, which counts as written.
Accesses AccessesOf(std::span<const BoundOperand> operands, const void* workspace,
                    uint64_t workspace_size) noexcept;

/// Tells that `api` is refused for bytes that are no device memory, or are not its own to use.
void TellRefused(const char* api, const Status& failure, const void* address, uint64_t bytes);

}  // namespace openaclnn
