// SPDX-License-Identifier: Apache-2.0
// Bound operand: the copy of a tensor.
#include "nnopbase/operand.h"

#include <algorithm>
#include <utility>

#include "ascendcl/data_type.h"
#include "common/view.h"

namespace openaclnn {

BoundOperand::BoundOperand(const OpenaclnnOperand& operand, int64_t** numbers)
    : name(operand.name),
      role(operand.role),
      present(operand.present != 0),
      in_list(operand.in_list != 0),
      may_alias(operand.may_alias),
      use(operand.use) {
  if (!present) return;
  const auto copy = [&](const int64_t* values) {
    return std::exchange(*numbers, std::copy_n(values, operand.tensor.rank, *numbers));
  };
  tensor = operand.tensor;
  tensor.dims = copy(operand.tensor.dims);
  tensor.strides = copy(operand.tensor.strides);
  tensor.storage_dims = nullptr;
  tensor.storage_rank = 0;
  if (ElementCount(operand.tensor).value_or(0) == 0) return;
  // Phase 1 has shown that the span stays in the storage, so that nothing here overflows.
  const Span span = *ElementSpan(operand.tensor);
  element_bytes = static_cast<int64_t>(FindDataType(tensor.dtype)->bytes);
  first_byte = span.first * element_bytes;
  origin_byte = tensor.offset * element_bytes;
  bytes = static_cast<uint64_t>((span.last - span.first + 1) * element_bytes);
}

}  // namespace openaclnn
