// SPDX-License-Identifier: Apache-2.0
// Rows of floats as the integers of INT8 that stand for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace openaclnn::supporting {

/// The nearest integer of INT8, ties to even; of NaN 0.
inline float NearestByte(float value) {
  if (std::isnan(value)) return 0;
  return std::nearbyint(std::clamp(value, -128.0f, 127.0f));
}

/// value * scale + offset of each, as integers.
inline void QuantiseBy(float* row, int64_t n, float scale, float offset) {
  for (int64_t i = 0; i < n; ++i) row[i] = NearestByte(row[i] * scale + offset);
}

/// Makes of a row integers whose largest is 127. Returns what one of them stands for: the largest
/// magnitude / 127. A row of zeros stays so.
inline float QuantiseByLargest(float* row, int64_t n) {
  float largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    largest = std::isnan(row[i]) ? row[i] : std::max(largest, std::abs(row[i]));
    if (std::isnan(largest)) break;
  }
  const float scale = largest / 127.0f;
  for (int64_t i = 0; i < n; ++i) row[i] = NearestByte(scale == 0 ? 0 : row[i] / scale);
  return scale;
}

}  // namespace openaclnn::supporting
