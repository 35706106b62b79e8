// SPDX-License-Identifier: Apache-2.0
// Embedding as its formula says, in plain loops.
#pragma once

#include <cstdint>

namespace openaclnn::embedding::forward {

/// y[i,:] = w[idx[i],:]. w (any, width), idx (tokens), y (tokens, width).
template <class T>
void Reference(int64_t tokens, int64_t width, const T* w, const int64_t* idx, T* y) {
  for (int64_t i = 0; i < tokens; ++i) {
    for (int64_t j = 0; j < width; ++j) y[i * width + j] = w[idx[i] * width + j];
  }
}

}  // namespace openaclnn::embedding::forward
