// SPDX-License-Identifier: Apache-2.0
// The float64 reference of ConvTbcBackward as a C function, for the command-line tool.
#include "conv_tbc/backward/reference.h"

#include <cstdint>

#include "tool/reference.h"

using openaclnn::reference::Guard;

/// absolute values; `stored` is self before it is rounded for the other two.
OPENACLNN_REFERENCE int openaclnn_reference_conv_tbc_backward(
    const double* self, const double* stored, const double* input, const double* weight,
    int64_t in_length, int64_t batch, int64_t in_channels, int64_t out_channels, int64_t taps,
    int64_t pad, double* grad_input, double* grad_weight, double* grad_bias) {
  namespace room = openaclnn::conv_tbc::backward;
  return Guard([&] {
    const room::ReferenceSizes n = {in_length, batch, in_channels, out_channels, taps, pad};
    room::ReferenceInput(n, self, weight, grad_input);
    room::ReferenceWeight(n, self, input, grad_weight);
    room::ReferenceBias(n, stored, grad_bias);
  });
}
