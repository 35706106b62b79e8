// SPDX-License-Identifier: Apache-2.0
// The float64 reference of NsaCompress as a C function, for the command-line tool.
#include "nsa_compress/forward/reference.h"

#include <cstdint>

#include "tool/reference.h"

using openaclnn::reference::Absolute;
using openaclnn::reference::Guard;

/// output, magnitude (windows, heads, width); starts (windows): the first token of each.
OPENACLNN_REFERENCE int openaclnn_reference_nsa_compress(const double* input, const double* weight,
                                                         const int64_t* starts, int64_t tokens,
                                                         int64_t heads, int64_t width,
                                                         int64_t block, int64_t windows,
                                                         double* output, double* magnitude) {
  namespace room = openaclnn::nsa_compress::forward;
  return Guard([&] {
    const room::ReferenceSizes n = {heads, width, block, windows};
    room::Reference(n, starts, input, weight, output);
    if (magnitude == nullptr) return;
    room::Reference(n, starts, Absolute(input, tokens * heads * width).data(),
                    Absolute(weight, block * heads).data(), magnitude);
  });
}
