// SPDX-License-Identifier: Apache-2.0
// The float64 reference of ConvTbc as a C function, for the command-line tool.
#include "conv_tbc/forward/reference.h"

#include <cstdint>

#include "tool/reference.h"

using openaclnn::reference::Absolute;
using openaclnn::reference::Guard;

/// out, magnitude (in_length + 2 * pad + 1 - taps, batch, out_channels).
OPENACLNN_REFERENCE int openaclnn_reference_conv_tbc(const double* self, const double* weight,
                                                     const double* bias, int64_t in_length,
                                                     int64_t batch, int64_t in_channels,
                                                     int64_t out_channels, int64_t taps,
                                                     int64_t pad, double* out, double* magnitude) {
  namespace room = openaclnn::conv_tbc::forward;
  return Guard([&] {
    const room::ReferenceSizes n = {in_length, batch, in_channels, out_channels, taps, pad};
    room::Reference(n, self, weight, bias, out);
    if (magnitude == nullptr) return;
    room::Reference(n, Absolute(self, in_length * batch * in_channels).data(),
                    Absolute(weight, taps * in_channels * out_channels).data(),
                    Absolute(bias, out_channels).data(), magnitude);
  });
}
