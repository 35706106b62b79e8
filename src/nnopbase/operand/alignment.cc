// SPDX-License-Identifier: Apache-2.0
// Alignment: which operands are told.
#include "nnopbase/operand/alignment.h"

#include "nnopbase/operand/access.h"

namespace openaclnn {

void TellMisaligned(const char* api, std::span<const BoundOperand> operands, const void* workspace,
                    uint64_t workspace_size) {
  for (const BoundOperand& operand : operands) {
    if (operand.bytes == 0 || !IsMisaligned(operand)) continue;
    const std::byte* data = static_cast<const std::byte*>(operand.tensor.data);
    Check().tell_misaligned(api, operand.name, data + operand.first_byte, operand.bytes,
                            AlignmentOf(operand));
  }
  if (workspace_size > 0 && IsMisaligned(workspace)) {
    Check().tell_misaligned(api, "workspace", workspace, workspace_size, kWorkspaceAlignment);
  }
}

}  // namespace openaclnn
