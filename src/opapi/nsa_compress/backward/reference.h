// SPDX-License-Identifier: Apache-2.0
// NsaCompressGrad as its formula says, in plain loops.
#pragma once

#include <algorithm>
#include <cstdint>

namespace openaclnn::nsa_compress::backward {

struct ReferenceSizes {
  int64_t tokens, heads, width, block, windows;
};

/// dx[start_i + r,n,:] += w[r,n] * dy[i,n,:] and dw[r,n] += sum over k of x[start_i + r,n,k] *
/// dy[i,n,k], over all windows i, which start at token start[i], and r < block.
template <class T>
void Reference(const ReferenceSizes& s, const int64_t* start, const T* dy, const T* x, const T* w,
               T* dx, T* dw) {
  std::fill_n(dx, s.tokens * s.heads * s.width, T{});
  std::fill_n(dw, s.block * s.heads, T{});
  for (int64_t i = 0; i < s.windows; ++i) {
    for (int64_t r = 0; r < s.block; ++r) {
      for (int64_t n = 0; n < s.heads; ++n) {
        const int64_t token = ((start[i] + r) * s.heads + n) * s.width;
        const int64_t window = (i * s.heads + n) * s.width;
        for (int64_t k = 0; k < s.width; ++k) {
          dx[token + k] += w[r * s.heads + n] * dy[window + k];
          dw[r * s.heads + n] += x[token + k] * dy[window + k];
        }
      }
    }
  }
}

}  // namespace openaclnn::nsa_compress::backward
