// SPDX-License-Identifier: Apache-2.0
// Inputs that are copied before they are read, where elements along their rows lie apart.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/move/copy.h"
#include "kernels/move/strided.h"

namespace openaclnn {

/// Where elements lie along columns each row would load the same cache lines anew.
class DenseInput {
 public:
  DenseInput() = default;
  explicit DenseInput(const Operand& input);

  bool copied() const { return bytes_ > 0; }
  /// Bytes of the copy, or 0.
  __int128 bytes() const { return bytes_; }
  /// The copy's rows, if there is one.
  const RowView& rows() const { return rows_; }
  /// Makes the copy, if there is to be one, in `room`; where the rows are.
  void* Take(void* input, void* room) const;

 private:
  RowView rows_;
  Copy copy_;
  __int128 bytes_ = 0;
};

}  // namespace openaclnn
