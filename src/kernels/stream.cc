// SPDX-License-Identifier: Apache-2.0
// Which views are whole cache lines.
#include "kernels/stream.h"

#include "ascendcl/data_type.h"

namespace openaclnn {

bool RowsAreLines(const Operand& operand) {
  const uint32_t rank = operand.rank();
  if (rank == 0 || operand.tensor().strides[rank - 1] != 1) return false;
  const int64_t elements = kCacheLine / static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
  bool are_lines = operand.last_dim() % elements == 0;
  for (uint32_t axis = 0; axis + 1 < rank; ++axis) {
    const bool steps = operand.dim(axis) > 1;  // the stride of a single index means nothing
    are_lines = are_lines && (!steps || operand.tensor().strides[axis] % elements == 0);
  }
  return are_lines;
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
