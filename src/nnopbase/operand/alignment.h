// SPDX-License-Identifier: Apache-2.0
// Alignment: addresses at which a device finds no elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "nnopbase/operand/operand.h"

namespace openaclnn {

/// Elements lie at multiples of their size; what is larger than 8 bytes is several numbers.
inline uint64_t AlignmentOf(const BoundOperand& operand) {
  return std::min<uint64_t>(static_cast<uint64_t>(operand.element_bytes), 8);
}

/// A device moves blocks of 32 bytes, and operators begin workspaces with one.
inline constexpr uint64_t kWorkspaceAlignment = 32;

/// Whether an operand with elements is misaligned; its offset counts whole elements.
inline bool IsMisaligned(const BoundOperand& operand) {
  return (reinterpret_cast<uintptr_t>(operand.tensor.data) & (AlignmentOf(operand) - 1)) != 0;
}
inline bool IsMisaligned(const void* workspace) {
  return (reinterpret_cast<uintptr_t>(workspace) & (kWorkspaceAlignment - 1)) != 0;
}

/// Reports those that are; the workspace may be of no bytes.
void TellMisaligned(const char* api, std::span<const BoundOperand> operands, const void* workspace,
                    uint64_t workspace_size);

}  // namespace openaclnn
