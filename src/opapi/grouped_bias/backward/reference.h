// SPDX-License-Identifier: Apache-2.0
// GroupedBiasAddGrad as its formula says, in plain loops.
#pragma once

#include <algorithm>
#include <cstdint>

namespace openaclnn::grouped_bias::backward {

/// db[j,:] = sum over ends[j-1] <= i < ends[j] of dy[i,:]. dy (ends[groups-1], width), db (groups,
/// width).
template <class T>
void Reference(int64_t groups, int64_t width, const int64_t* ends, const T* dy, T* db) {
  std::fill_n(db, groups * width, T{});
  for (int64_t j = 0, i = 0; j < groups; ++j) {
    for (; i < ends[j]; ++i) {
      for (int64_t k = 0; k < width; ++k) db[j * width + k] += dy[i * width + k];
    }
  }
}

}  // namespace openaclnn::grouped_bias::backward
