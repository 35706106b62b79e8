// SPDX-License-Identifier: Apache-2.0
// ScaledMaskedSoftmax as its formula says, in plain loops.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

namespace openaclnn::masked_softmax::forward {

/// One row of n: y_j = e^(z_j - z_m) / sum_k e^(z_k - z_m), z_j = mask_j ? -10000 : scale * x_j,
/// z_m the largest by its real part. T may be complex, for derivatives by complex step.
template <class T>
void Reference(int64_t n, const T* x, const uint8_t* mask, double scale, T* y) {
  using std::exp;
  using std::real;
  double largest = -HUGE_VAL;
  for (int64_t j = 0; j < n; ++j) {
    y[j] = mask[j] != 0 ? T(-10000.0) : T(scale) * x[j];
    largest = std::fmax(largest, real(y[j]));
  }
  T sum{};
  for (int64_t j = 0; j < n; ++j) sum += y[j] = exp(y[j] - T(largest));
  for (int64_t j = 0; j < n; ++j) y[j] /= sum;
}

}  // namespace openaclnn::masked_softmax::forward
