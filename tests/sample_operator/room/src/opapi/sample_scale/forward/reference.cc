// SPDX-License-Identifier: Apache-2.0
// The float64 reference of SampleScale as a C function, for the command-line tool.
#include "sample_scale/forward/reference.h"

#include "tool/reference.h"

/// y (n).
OPENACLNN_REFERENCE int openaclnn_reference_sample_scale(const double* x, int64_t n, double scale,
                                                         double* y) {
  return openaclnn::reference::Guard(
      [&] { openaclnn::sample_scale::forward::Reference(n, x, scale, y); });
}
