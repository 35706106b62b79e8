// SPDX-License-Identifier: Apache-2.0
// Descriptions of calls in words and numbers.
#include "nnopbase/operand/description.h"

#include <algorithm>
#include <cstddef>

#include "ascendcl/data_type.h"
#include "common/text.h"
#include "common/view.h"

namespace openaclnn {
namespace {

/// "FLOAT (2, 3)".
std::string Describe(const BoundOperand& operand) {
  const OpenaclnnTensor& tensor = operand.tensor;
  const DataTypeInfo* type = FindDataType(tensor.dtype);
  std::string text = type != nullptr ? type->name : Concat(tensor.dtype);
  text += " (";
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    text += Concat(i > 0 ? ", " : "", tensor.dims[i] * (operand.paired_dim == i ? 2 : 1));
  }
  return text + ")";
}

bool IsRead(const BoundOperand& operand) {
  if (operand.role == OPENACLNN_INPUT) return operand.use != OPENACLNN_UNUSED;
  return operand.use == OPENACLNN_UPDATED || operand.use == OPENACLNN_READ;
}

bool IsWritten(const BoundOperand& operand) {
  return operand.role == OPENACLNN_OUTPUT && operand.use != OPENACLNN_READ &&
         operand.use != OPENACLNN_UNUSED;
}

}  // namespace

std::string DescribeOperands(std::span<const BoundOperand> operands) {
  constexpr size_t kMaxText = 4096;  // operators on lists may have hundreds of operands
  std::string list;
  for (const BoundOperand& operand : operands) {
    if (!operand.present || list.size() > kMaxText) continue;
    if (!list.empty()) list += ',';
    list.append("\"").append(operand.name).append("\":\"");
    list.append(Describe(operand)).append("\"");
  }
  return "\"operands\":{" + list + "}";
}

std::string DescribeBytes(std::span<const BoundOperand> operands) {
  uint64_t read = 0;
  uint64_t written = 0;
  for (const BoundOperand& operand : operands) {
    if (!operand.present) continue;
    const auto count = static_cast<uint64_t>(ElementCount(operand.tensor).value_or(0));
    // An expanded view has more elements than memory.
    const uint64_t bytes =
        std::min(count * static_cast<uint64_t>(operand.element_bytes), operand.bytes);
    if (IsRead(operand)) read += bytes;
    if (IsWritten(operand)) written += bytes;
  }
  return Concat("\"bytes_read\":", read, ",\"bytes_written\":", written);
}

}  // namespace openaclnn
