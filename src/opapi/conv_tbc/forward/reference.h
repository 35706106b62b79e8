// SPDX-License-Identifier: Apache-2.0
// ConvTbc as its formula says, in plain loops.
#pragma once

#include <algorithm>
#include <cstdint>

namespace openaclnn::conv_tbc::forward {

struct ReferenceSizes {
  int64_t in_length, batch, in_channels, out_channels, taps, pad;

  int64_t out_length() const { return in_length + 2 * pad + 1 - taps; }
};

/// y[t,b,o] = bias[o] + sum over k, c of x[t+k-pad,b,c] * w[k,c,o].
template <class T>
void Reference(const ReferenceSizes& s, const T* x, const T* w, const T* bias, T* y) {
  for (int64_t t = 0; t < s.out_length(); ++t) {
    for (int64_t b = 0; b < s.batch; ++b) {
      T* out = y + (t * s.batch + b) * s.out_channels;
      std::copy_n(bias, s.out_channels, out);
      for (int64_t k = 0; k < s.taps; ++k) {
        const int64_t time = t + k - s.pad;
        if (time < 0 || time >= s.in_length) continue;
        for (int64_t c = 0; c < s.in_channels; ++c) {
          const T in = x[(time * s.batch + b) * s.in_channels + c];
          for (int64_t o = 0; o < s.out_channels; ++o) {
            out[o] += in * w[(k * s.in_channels + c) * s.out_channels + o];
          }
        }
      }
    }
  }
}

}  // namespace openaclnn::conv_tbc::forward
