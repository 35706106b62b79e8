// SPDX-License-Identifier: Apache-2.0
// The float64 reference of NsaCompressGrad as a C function, for the command-line tool.
#include "nsa_compress/backward/reference.h"

#include <cstdint>

#include "tool/reference.h"

using openaclnn::reference::Absolute;
using openaclnn::reference::Guard;

/// input_grad (tokens, heads, width) and weight_grad (block, heads), and the magnitudes of both.
OPENACLNN_REFERENCE int openaclnn_reference_nsa_compress_grad(
    const double* output_grad, const double* input, const double* weight, const int64_t* starts,
    int64_t tokens, int64_t heads, int64_t width, int64_t block, int64_t windows,
    double* input_grad, double* weight_grad, double* input_magnitude, double* weight_magnitude) {
  namespace room = openaclnn::nsa_compress::backward;
  return Guard([&] {
    const room::ReferenceSizes n = {tokens, heads, width, block, windows};
    room::Reference(n, starts, output_grad, input, weight, input_grad, weight_grad);
    if (input_magnitude == nullptr) return;
    room::Reference(n, starts, Absolute(output_grad, windows * heads * width).data(),
                    Absolute(input, tokens * heads * width).data(),
                    Absolute(weight, block * heads).data(), input_magnitude, weight_magnitude);
  });
}
