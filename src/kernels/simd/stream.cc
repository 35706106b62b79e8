// SPDX-License-Identifier: Apache-2.0
// Which views are whole cache lines.
#include "kernels/simd/stream.h"

#include "ascendcl/data_type.h"

namespace openaclnn {

namespace {

/// Whether elements follow each other along the last dimension.
bool HasRows(const Operand& operand) {
  const uint32_t rank = operand.rank();
  return rank > 0 && operand.tensor().strides[rank - 1] == 1;
}

}  // namespace

bool RowsAreLines(const Operand& operand) {
  const uint32_t rank = operand.rank();
  if (!HasRows(operand)) return false;
  const int64_t elements = kCacheLine / static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
  bool are_lines = operand.last_dim() % elements == 0;
  for (uint32_t axis = 0; axis + 1 < rank; ++axis) {
    const bool steps = operand.dim(axis) > 1;  // the stride of a single index means nothing
    are_lines = are_lines && (!steps || operand.tensor().strides[axis] % elements == 0);
  }
  return are_lines;
}

bool RowsAreLong(const Operand& operand) {
  // Speeds of gradients of softmax against ordinary stores, 8 Mi elements, one thread and two of a
  // Sapphire Rapids: rows of 1,000 FLOAT 1.2 to 1.6, of 4,090 1.25 to 2.1, of 250 0.8 to 1.05; in
  // BFLOAT16 1.0 to 1.1, 1.0 to 1.2 and 0.6 to 0.85.
  constexpr int64_t kLeastBytes = 2000;
  const auto bytes = static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
  return HasRows(operand) && operand.last_dim() >= kLeastBytes / bytes;
}

bool IsStreamed(const Operand& out) {
  // Speeds against ordinary stores, on one thread and two of a Zen 4 with cold caches: sums of rows
  // of 64 to 4,096 columns 1.0 to 1.5; gradients of softmax 1.1 to 1.5, in 16 bits 1.0 to 1.2; of
  // windows of tokens 1.1 to 1.6.
  constexpr int64_t kLeastBytes = int64_t{4} << 20;
  const auto bytes = static_cast<int64_t>(FindDataType(out.dtype())->bytes);
  return out.count().value_or(0) >= kLeastBytes / bytes;
}

}  // namespace openaclnn
