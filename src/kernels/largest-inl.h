// SPDX-License-Identifier: Apache-2.0
// The largest element of a row, as softmax needs it.
#pragma once

#include "kernels/lanes-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

/// The largest of x[0 … n - 1]. A NaN may or may not count: the exponentials of the row have it
/// either way.
inline float Largest(const float* x, int64_t n) {
  constexpr int kAtOnce = 4;
  float lanes[kLanes] = {-__builtin_inff()};
  if (n < kLanes) {
    for (int64_t j = 0; j < n; ++j) lanes[0] = x[j] > lanes[0] ? x[j] : lanes[0];
    return lanes[0];
  }
  F32x16 largest[kAtOnce];
  // Elements may be met twice: it is the same largest one.
  for (F32x16& each : largest) each = F32x16::Load(x + n - kLanes);
  int64_t j = 0;
  for (; j + kAtOnce * kLanes <= n; j += kAtOnce * kLanes) {
    for (int k = 0; k < kAtOnce; ++k) {
      largest[k] = F32x16::Max(largest[k], F32x16::Load(x + j + k * kLanes));
    }
  }
  for (; j + kLanes <= n; j += kLanes) {
    largest[0] = F32x16::Max(largest[0], F32x16::Load(x + j));
  }
  F32x16::Max(F32x16::Max(largest[0], largest[1]), F32x16::Max(largest[2], largest[3]))
      .Store(lanes);
  for (int i = 1; i < kLanes; ++i) lanes[0] = lanes[i] > lanes[0] ? lanes[i] : lanes[0];
  return lanes[0];
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
