// SPDX-License-Identifier: Apache-2.0
// Bound operand: a tensor of a call, as its executor keeps it.
#pragma once

#include <cstdint>

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
  uint64_t may_alias = 0;
  OpenaclnnUse use = OPENACLNN_ALL;
  OpenaclnnTensor tensor = {};  // without its storage's shape
  // Of a view with elements; otherwise bytes is 0.
  int64_t element_bytes = 0;
  int64_t first_byte = 0;   // of the span, from tensor.data
  int64_t origin_byte = 0;  // of element [0, …, 0], from tensor.data
  uint64_t bytes = 0;       // of the span
};

}  // namespace openaclnn
