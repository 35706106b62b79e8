// SPDX-License-Identifier: Apache-2.0
// ScaledMaskedSoftmaxBackward as its formula says, in plain loops.
#pragma once

#include <cstdint>

namespace openaclnn::masked_softmax::backward {

/// One row of n: dx_j = mask_j ? 0 : scale * (dy_j*y_j - y_j * sum_k dy_k*y_k).
template <class T>
void Reference(int64_t n, const T* dy, const T* y, const uint8_t* mask, T scale, T* dx) {
  T dot{};
  for (int64_t j = 0; j < n; ++j) dot += dy[j] * y[j];
  for (int64_t j = 0; j < n; ++j) {
    dx[j] = mask[j] != 0 ? T{} : scale * (dy[j] * y[j] - y[j] * dot);
  }
}

}  // namespace openaclnn::masked_softmax::backward
