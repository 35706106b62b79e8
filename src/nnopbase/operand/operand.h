// SPDX-License-Identifier: Apache-2.0
// Bound operand: a tensor of a call, as its executor keeps it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "ascendcl/packed.h"
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
  OpenaclnnTensor tensor = {};         // without its storage's shape; of 4 bits, as bytes
  const void* planned_data = nullptr;  // its address in phase 1
  std::optional<uint32_t> paired_dim;  // where its bytes hold two elements
  // These describe a view with elements; in an empty view bytes is 0.
  int64_t element_bytes = 0;
  int64_t first_byte = 0;   // of the span, from tensor.data
  int64_t origin_byte = 0;  // of element [0, …, 0], from tensor.data
  uint64_t bytes = 0;       // of the span

 private:
  /// Makes the view one of bytes; phase 1 has shown that there is a dimension to pair.
  void Pair(int64_t* dims, int64_t* strides) {
    paired_dim = *PairedDim(tensor);
    for (uint32_t i = 0; i < tensor.rank; ++i) {
      if (i != *paired_dim) strides[i] /= 2;
    }
    dims[*paired_dim] /= 2;
    tensor.offset /= 2;
  }
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
  planned_data = tensor.data;
  int64_t* const dims = copy(operand.tensor.dims);
  int64_t* const strides = copy(operand.tensor.strides);
  tensor.dims = dims;
  tensor.strides = strides;
  tensor.storage_dims = nullptr;
  tensor.storage_rank = 0;
  if (ElementCount(operand.tensor).value_or(0) == 0) return;
  element_bytes = UnitBytes(tensor.dtype);
  if (ElementsOfByte(tensor.dtype) == 2) Pair(dims, strides);
  // Phase 1 has shown that the span stays in the storage, or in memory, so that nothing
  // here overflows.
  const Span span = *ElementSpan(tensor);
  first_byte = span.first * element_bytes;
  origin_byte = tensor.offset * element_bytes;
  bytes = static_cast<uint64_t>((span.last - span.first + 1) * element_bytes);
}

}  // namespace openaclnn
