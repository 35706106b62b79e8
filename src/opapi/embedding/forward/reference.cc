// SPDX-License-Identifier: Apache-2.0
// The float64 reference of Embedding as a C function, for the command-line tool.
#include "embedding/forward/reference.h"

#include <cstdint>

#include "tool/reference.h"

using openaclnn::reference::Guard;

/// out (tokens, width): rows of weight.
OPENACLNN_REFERENCE int openaclnn_reference_embedding(const double* weight, const int64_t* indices,
                                                      int64_t tokens, int64_t width, double* out) {
  return Guard(
      [&] { openaclnn::embedding::forward::Reference(tokens, width, weight, indices, out); });
}
