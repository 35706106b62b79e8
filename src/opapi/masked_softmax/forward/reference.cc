// SPDX-License-Identifier: Apache-2.0
// The float64 reference of ScaledMaskedSoftmax as a C function, for the command-line tool.
#include "masked_softmax/forward/reference.h"

#include <cmath>
#include <cstdint>

#include "tool/reference.h"

namespace {

/// How many roundings of its argument e^z_j feels, and the mean of that over the row: z is rounded
/// when it is scaled, and again when the largest is taken from it.
void SoftmaxRoundings(int64_t n, const double* x, const uint8_t* mask, double scale,
                      const double* y, double* roundings) {
  double largest = -HUGE_VAL, mean = 0;
  for (int64_t j = 0; j < n; ++j) {
    roundings[j] = mask[j] != 0 ? -10000 : scale * x[j];
    largest = std::fmax(largest, roundings[j]);
  }
  for (int64_t j = 0; j < n; ++j) {
    const double z = roundings[j];
    roundings[j] = y[j] != 0 ? (mask[j] != 0 ? 0 : std::abs(z)) + std::abs(z - largest) : 0;
    mean += y[j] * roundings[j];
  }
  for (int64_t j = 0; j < n; ++j) roundings[j] += mean;
}

}  // namespace

using openaclnn::reference::Guard;

/// y, roundings (rows, width): y_j is as uncertain as a sum of its magnitude and `roundings` more.
OPENACLNN_REFERENCE int openaclnn_reference_scaled_masked_softmax(const double* x,
                                                                  const uint8_t* mask, int64_t rows,
                                                                  int64_t width, double scale,
                                                                  double* y, double* roundings) {
  return Guard([&] {
    for (int64_t i = 0; i < rows * width; i += width) {
      openaclnn::masked_softmax::forward::Reference(width, x + i, mask + i, scale, y + i);
      if (roundings == nullptr) continue;
      SoftmaxRoundings(width, x + i, mask + i, scale, y + i, roundings + i);
    }
  });
}
