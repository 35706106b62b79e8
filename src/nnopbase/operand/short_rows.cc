// SPDX-License-Identifier: Apache-2.0
// The rows of each operator's outputs that its last tasks have left.
#include "nnopbase/operand/short_rows.h"

namespace openaclnn {

ShortRows& ShortRows::Get() {
  static auto* rows = new ShortRows;  // tasks may run in static destructors
  return *rows;
}

bool ShortRows::IsProof(const char* api, const char* operand, const ShortRow& row, uint64_t proof) {
  const std::lock_guard lock(mutex_);
  Left& left = left_.try_emplace({api, operand}, Left{row, 0}).first->second;
  if (left.row != row) left = {row, 0};
  left.bytes += row.bytes;
  count_.store(left_.size(), std::memory_order_relaxed);
  return left.bytes >= proof;
}

void ShortRows::Erase(const Key& key) {
  const std::lock_guard lock(mutex_);
  left_.erase(key);
  count_.store(left_.size(), std::memory_order_relaxed);
}

}  // namespace openaclnn
