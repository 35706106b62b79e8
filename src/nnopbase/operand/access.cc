// SPDX-License-Identifier: Apache-2.0
// The accesses of calls, as their operands describe them.
#include "nnopbase/operand/access.h"

#include <algorithm>

namespace openaclnn {
namespace {

// Where an operand is empty, indices for instance, the others may be left alone.
bool Computes(std::span<const BoundOperand> operands) {
  return std::none_of(operands.begin(), operands.end(), [](const BoundOperand& operand) {
    return operand.present && operand.bytes == 0;
  });
}

/// An input that nothing says otherwise of counts as read: what holds nothing there is the
/// program's mistake.
OpenaclnnReading ReadingOf(const BoundOperand& operand) {
  switch (operand.use) {
    case OPENACLNN_ALL:
      return operand.role == OPENACLNN_INPUT ? OPENACLNN_READS : OPENACLNN_READS_PERHAPS;
    case OPENACLNN_COPIED:
      return OPENACLNN_MOVES;
    case OPENACLNN_UPDATED:
    case OPENACLNN_READ:
      return OPENACLNN_READS;
    case OPENACLNN_PART:
    case OPENACLNN_UNUSED:
      break;
  }
  return OPENACLNN_READS_PERHAPS;
}

}  // namespace

const uint32_t* const kWatchingWorkspaces = Check().watching_workspaces;

Accesses AccessesOf(std::span<const BoundOperand> operands, const void* workspace,
                    uint64_t workspace_size) noexcept try {
  const bool computes = Computes(operands);
  std::vector<OpenaclnnAccess> accesses;
  for (const BoundOperand& operand : operands) {
    if (operand.bytes == 0 || operand.use == OPENACLNN_UNUSED) continue;
    const OpenaclnnTensor& tensor = operand.tensor;
    const uintptr_t origin =
        reinterpret_cast<uintptr_t>(tensor.data) + static_cast<uintptr_t>(operand.origin_byte);
    const bool writes = operand.role == OPENACLNN_OUTPUT && operand.use != OPENACLNN_READ;
    const OpenaclnnReading reading = computes ? ReadingOf(operand) : OPENACLNN_READS_PERHAPS;
    accesses.push_back({operand.name, writes ? 1 : 0, reading, tensor.rank, origin,
                        static_cast<uint64_t>(operand.element_bytes), tensor.dims, tensor.strides});
  }
  if (workspace_size > 0) {
    accesses.push_back({"workspace", 1, OPENACLNN_READS_PERHAPS, 0,
                        reinterpret_cast<uintptr_t>(workspace), workspace_size, nullptr, nullptr});
  }
  return accesses;
} catch (...) {
  return std::nullopt;  // a check must not fail what it checks
}

void TellRefused(const char* api, const Status& failure, const void* address, uint64_t bytes) {
  Check().refused(api, failure.code(), failure.text().c_str(), address, bytes);
}

}  // namespace openaclnn
