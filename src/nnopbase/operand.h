// SPDX-License-Identifier: Apache-2.0
// Bound operand: a tensor of a call, as its executor keeps it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ascendcl/data_type.h"
#include "common/view.h"
#include "nnopbase/interface.h"

namespace openaclnn {

/// A tensor of the call, copied: the caller may destroy its own at once.
struct BoundOperand {
  BoundOperand() = default;
  /// The dimensions and strides are copied to *numbers, which moves behind them.
  BoundOperand(const OpenaclnnOperand& operand, int64_t** numbers);

  const char* name = nullptr;
  OpenaclnnRole role = OPENACLNN_INPUT;
  bool present = false;
  bool in_list = false;
  bool shared = false;
  uint64_t may_alias = 0;
  OpenaclnnUse use = OPENACLNN_ALL;
  OpenaclnnTensor tensor = {};  // without its storage's shape
  // Of a view with elements; otherwise bytes is 0.
  int64_t element_bytes = 0;
  int64_t first_byte = 0;   // of the span, from tensor.data
  int64_t origin_byte = 0;  // of element [0, …, 0], from tensor.data
  uint64_t bytes = 0;       // of the span
};

// Inline, since every call makes some: 200 of the 12,500 instructions of a small one.
inline BoundOperand::BoundOperand(const OpenaclnnOperand& operand, int64_t** numbers)
    : name(operand.name),
      role(operand.role),
      present(operand.present != 0),
      in_list(operand.in_list != 0),
      shared(operand.shared != 0),
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
  // Phase 1 has shown that the span stays in the storage, or in memory, so that nothing
  // here overflows.
  const Span span = *ElementSpan(operand.tensor);
  element_bytes = static_cast<int64_t>(FindDataType(tensor.dtype)->bytes);
  first_byte = span.first * element_bytes;
  origin_byte = tensor.offset * element_bytes;
  bytes = static_cast<uint64_t>((span.last - span.first + 1) * element_bytes);
}

}  // namespace openaclnn
