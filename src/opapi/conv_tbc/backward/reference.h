// SPDX-License-Identifier: Apache-2.0
// ConvTbcBackward as its formulas say, in plain loops.
#pragma once

#include <algorithm>
#include <cstdint>

namespace openaclnn::conv_tbc::backward {

struct ReferenceSizes {
  int64_t in_length, batch, in_channels, out_channels, taps, pad;

  int64_t out_length() const { return in_length + 2 * pad + 1 - taps; }
};

/// dx[s,b,c] = sum over k, o of dy[s+pad-k,b,o] * w[k,c,o].
template <class T>
void ReferenceInput(const ReferenceSizes& s, const T* dy, const T* w, T* dx) {
  std::fill_n(dx, s.in_length * s.batch * s.in_channels, T{});
  for (int64_t time = 0; time < s.in_length; ++time) {
    for (int64_t k = 0; k < s.taps; ++k) {
      const int64_t t = time + s.pad - k;
      if (t < 0 || t >= s.out_length()) continue;
      for (int64_t b = 0; b < s.batch; ++b) {
        const T* from = dy + (t * s.batch + b) * s.out_channels;
        for (int64_t c = 0; c < s.in_channels; ++c) {
          const T* row = w + (k * s.in_channels + c) * s.out_channels;
          T sum = {};
          for (int64_t o = 0; o < s.out_channels; ++o) sum += from[o] * row[o];
          dx[(time * s.batch + b) * s.in_channels + c] += sum;
        }
      }
    }
  }
}

/// dw[k,c,o] = sum over t, b of x[t+k-pad,b,c] * dy[t,b,o].
template <class T>
void ReferenceWeight(const ReferenceSizes& s, const T* dy, const T* x, T* dw) {
  std::fill_n(dw, s.taps * s.in_channels * s.out_channels, T{});
  for (int64_t k = 0; k < s.taps; ++k) {
    for (int64_t t = 0; t < s.out_length(); ++t) {
      const int64_t time = t + k - s.pad;
      if (time < 0 || time >= s.in_length) continue;
      for (int64_t b = 0; b < s.batch; ++b) {
        const T* from = dy + (t * s.batch + b) * s.out_channels;
        for (int64_t c = 0; c < s.in_channels; ++c) {
          const T in = x[(time * s.batch + b) * s.in_channels + c];
          T* row = dw + (k * s.in_channels + c) * s.out_channels;
          for (int64_t o = 0; o < s.out_channels; ++o) row[o] += in * from[o];
        }
      }
    }
  }
}

/// db[o] = sum over t, b of dy[t,b,o].
template <class T>
void ReferenceBias(const ReferenceSizes& s, const T* dy, T* db) {
  std::fill_n(db, s.out_channels, T{});
  for (int64_t row = 0; row < s.out_length() * s.batch; ++row) {
    for (int64_t o = 0; o < s.out_channels; ++o) db[o] += dy[row * s.out_channels + o];
  }
}

}  // namespace openaclnn::conv_tbc::backward
