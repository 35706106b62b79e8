// SPDX-License-Identifier: Apache-2.0
// The float64 reference of EmbeddingDenseBackward as a C function, for the command-line tool.
#include "embedding/backward/reference.h"

#include <cstdint>

#include "tool/reference.h"

using openaclnn::reference::Absolute;
using openaclnn::reference::Guard;

/// out, magnitude (num_weights, width); terms (num_weights): how many there are in each row's sums.
OPENACLNN_REFERENCE int openaclnn_reference_embedding_dense_backward(
    const double* grad, const int64_t* indices, int64_t tokens, int64_t width, int64_t num_weights,
    int64_t padding_idx, int64_t scale_grad_by_freq, double* out, double* magnitude,
    int64_t* terms) {
  namespace room = openaclnn::embedding::backward;
  return Guard([&] {
    const room::ReferenceSizes n = {tokens, width, static_cast<uint64_t>(num_weights),
                                    static_cast<uint64_t>(padding_idx), scale_grad_by_freq != 0};
    room::Reference(n, grad, indices, out, terms);
    if (magnitude == nullptr) return;
    room::Reference(n, Absolute(grad, tokens * width).data(), indices, magnitude, terms);
  });
}
