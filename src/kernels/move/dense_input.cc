// SPDX-License-Identifier: Apache-2.0
// Which inputs are copied before they are read.
#include "kernels/move/dense_input.h"

#include <utility>

namespace openaclnn {
namespace {

// Elements from which on an input is copied. Sums of 4,096 rows of 768 columns on one thread of
// a busy Zen 4: FLOAT 77 ms without and 11 with, BFLOAT16 49 and 2.
constexpr int64_t kLeastCopied = 16384;

/// A broadcast input is not copied: a copy of it would be larger. Of elements that overlap there
/// may be more than a copy could hold.
bool IsCopied(const Operand& input) {
  const uint32_t rank = input.rank();
  const int64_t count = input.count().value_or(0);
  const auto bytes = static_cast<int64_t>(FindDataType(input.dtype())->bytes);
  bool apart = count >= kLeastCopied && count <= INT64_MAX / bytes;
  for (uint32_t i = 0; i < rank; ++i) {
    apart = apart && (input.dim(i) == 1 || input.tensor().strides[i] != 0);
  }
  return apart && input.last_dim() > 1 && input.tensor().strides[rank - 1] != 1;
}

/// The steps of a dense tensor of that shape.
Steps DenseSteps(const Operand& like) {
  Shape bytes = ShapeOf(like);
  auto step = static_cast<int64_t>(FindDataType(like.dtype())->bytes);
  for (size_t i = bytes.size(); i-- > 0;) step *= std::exchange(bytes[i], step);
  return Steps(bytes);
}

}  // namespace

DenseInput::DenseInput(const Operand& input) : rows_(input) {
  if (!IsCopied(input)) return;
  const Shape shape = ShapeOf(input);
  copy_ = Copy(shape, Steps(shape, input), DenseSteps(input), rows_.element_bytes);
  bytes_ = __int128{*input.count()} * rows_.element_bytes;
  const int64_t count = 2, step = input.last_dim();  // joined: as many rows as there are
  rows_.rows = Offsets(&count, &step, 1);
  rows_.step = 1;
}

void* DenseInput::Take(void* input, void* room) const {
  if (!copied()) return input;
  copy_(static_cast<const std::byte*>(input), static_cast<std::byte*>(room));
  return room;
}

}  // namespace openaclnn
