// SPDX-License-Identifier: Apache-2.0
// SampleScale as its formula says, in plain loops.
#pragma once

#include <cstdint>

namespace openaclnn::sample_scale::forward {

/// y_j = scale * x_j.
template <class T>
void Reference(int64_t n, const T* x, double scale, T* y) {
  for (int64_t j = 0; j < n; ++j) y[j] = T(scale) * x[j];
}

}  // namespace openaclnn::sample_scale::forward
