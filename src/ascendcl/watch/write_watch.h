// SPDX-License-Identifier: Apache-2.0
// Write watch: which device memory nothing has written, as the runtime tells of its calls
// (OPENACLNN_CHECK=full).
//
// As with races what counts is the order of the calls: whoever reads in order after a write was
// launched after it.
#pragma once

#include <cstdint>
#include <vector>

#include "ascendcl/watch/race.h"

namespace openaclnn {

// Called only while races are watched.

/// Memory that the host cannot write otherwise than by calls, and its end.
void TellAllocated(const void* address, uint64_t bytes) noexcept;
void TellFreed(const void* address, uint64_t bytes) noexcept;

/// The bytes are written by what is no operand of a call.
void TellWritten(const void* address, uint64_t bytes) noexcept;

/// A call is about to take effect. Returns those of its operands that it reads though nothing was
/// ever written there; they are not found again.
std::vector<const MemoryAccess*> TellReads(const std::vector<MemoryAccess>& accesses) noexcept;

/// All memory of now counts as written: a call's writes are not known.
void ForgetUnwritten() noexcept;

}  // namespace openaclnn
