// SPDX-License-Identifier: Apache-2.0
// Damage: what a program is told that writes beside its allocations.
#pragma once

#include "ascendcl/memory/allocation.h"
#include "ascendcl/memory/canary.h"

namespace openaclnn {

/// Writes the canary behind a block, unless that was done.
void WriteCanaryOf(Allocation& allocation) noexcept;

inline bool HasCanary(const Allocation& allocation) {
  return allocation.canary.load(std::memory_order_acquire) == Canary::kWritten;
}

/// Whether it is worth to look closer: of shared blocks, that the first bytes behind were written.
inline bool MayBeDamaged(const Allocation& allocation) {
  const Block& block = allocation.block;
  if (!HasCanary(allocation)) return false;
  return block.behind >= kLeastCanary ? !BeginsIntact(block.host + block.bytes)
                                      : (block.before | block.behind) != 0;
}

/// Whether any byte of its canaries was written.
inline bool IsDamaged(const Allocation& allocation) {
  const Block& block = allocation.block;
  if (!HasCanary(allocation)) return false;
  return IntactBytes(block.host + block.bytes, block.behind) != block.behind ||
         IntactBytes(block.host - block.before, block.before) != block.before;
}

/// Looks at what is beside the allocation, which is the caller's to use, and reports, once, that it
/// was written. `when`: the API call or the task at whose end it was seen, or null.
void ReportDamage(const Allocation& allocation, const char* when) noexcept;

}  // namespace openaclnn
