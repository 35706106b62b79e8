// SPDX-License-Identifier: Apache-2.0
// The float64 reference of GroupedBiasAddGrad as a C function, for the command-line tool.
#include "grouped_bias/backward/reference.h"

#include <cstdint>

#include "tool/reference.h"

using openaclnn::reference::Absolute;
using openaclnn::reference::Guard;

/// out, magnitude (groups, width); ends (groups) rise from 0 to the rows of grad_y.
OPENACLNN_REFERENCE int openaclnn_reference_grouped_bias_add_grad(const double* grad_y,
                                                                  const int64_t* ends,
                                                                  int64_t groups, int64_t width,
                                                                  double* out, double* magnitude) {
  namespace room = openaclnn::grouped_bias::backward;
  return Guard([&] {
    const int64_t rows = groups == 0 ? 0 : ends[groups - 1];
    room::Reference(groups, width, ends, grad_y, out);
    if (magnitude == nullptr) return;
    room::Reference(groups, width, ends, Absolute(grad_y, rows * width).data(), magnitude);
  });
}
