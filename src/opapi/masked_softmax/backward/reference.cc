// SPDX-License-Identifier: Apache-2.0
// The float64 reference of ScaledMaskedSoftmaxBackward as a C function, for the command-line tool.
#include "masked_softmax/backward/reference.h"

#include <cmath>
#include <cstdint>

#include "tool/reference.h"

namespace {

/// mask ? 0 : |scale| * (|dy*y| + |y| * sum |dy*y|).
void SoftmaxGradMagnitude(int64_t n, const double* dy, const double* y, const uint8_t* mask,
                          double scale, double* magnitude) {
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += std::abs(dy[j] * y[j]);
  for (int64_t j = 0; j < n; ++j) {
    const double terms = std::abs(dy[j] * y[j]) + std::abs(y[j]) * sum;
    magnitude[j] = mask[j] != 0 ? 0 : std::abs(scale) * terms;
  }
}

}  // namespace

using openaclnn::reference::Guard;

/// out, magnitude (rows, width).
OPENACLNN_REFERENCE int openaclnn_reference_scaled_masked_softmax_backward(
    const double* grad_output, const double* y, const uint8_t* mask, int64_t rows, int64_t width,
    double scale, double* out, double* magnitude) {
  namespace room = openaclnn::masked_softmax::backward;
  return Guard([&] {
    for (int64_t i = 0; i < rows * width; i += width) {
      room::Reference(width, grad_output + i, y + i, mask + i, scale, out + i);
      if (magnitude == nullptr) continue;
      SoftmaxGradMagnitude(width, grad_output + i, y + i, mask + i, scale, magnitude + i);
    }
  });
}
