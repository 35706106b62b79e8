// SPDX-License-Identifier: Apache-2.0
// NsaCompress as its formula says, in plain loops.
#pragma once

#include <algorithm>
#include <cstdint>

namespace openaclnn::nsa_compress::forward {

struct ReferenceSizes {
  int64_t heads, width, block, windows;
};

/// y[i,n,:] = sum over r < block of w[r,n] * x[start[i] + r,n,:].
template <class T>
void Reference(const ReferenceSizes& s, const int64_t* start, const T* x, const T* w, T* y) {
  std::fill_n(y, s.windows * s.heads * s.width, T{});
  for (int64_t i = 0; i < s.windows; ++i) {
    for (int64_t r = 0; r < s.block; ++r) {
      for (int64_t n = 0; n < s.heads; ++n) {
        for (int64_t k = 0; k < s.width; ++k) {
          y[(i * s.heads + n) * s.width + k] +=
              w[r * s.heads + n] * x[((start[i] + r) * s.heads + n) * s.width + k];
        }
      }
    }
  }
}

}  // namespace openaclnn::nsa_compress::forward
