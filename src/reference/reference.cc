// SPDX-License-Identifier: Apache-2.0
// The float64 references of all operators as C functions, for the command-line tool.
#include "embedding/reference.h"

#include <cmath>
#include <cstdint>
#include <exception>
#include <vector>

#include "embedding_dense_backward/reference.h"

namespace {

/// Nonzero instead of an exception.
template <class Body>
int Guard(Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

}  // namespace

extern "C" {

/// out, magnitude (num_weights, width): the sums of the terms and of their absolute values; terms
/// (num_weights): how many there are in each row's sums.
__attribute__((visibility("default"))) int openaclnn_reference_embedding_dense_backward(
    const double* grad, const int64_t* indices, int64_t tokens, int64_t width, uint64_t num_weights,
    uint64_t padding_idx, int scale_grad_by_freq, double* out, double* magnitude, int64_t* terms) {
  namespace room = openaclnn::embedding_dense_backward;
  return Guard([&] {
    const room::ReferenceSizes n = {tokens, width, num_weights, padding_idx,
                                    scale_grad_by_freq != 0};
    std::vector<double> absolute(static_cast<size_t>(tokens * width));
    for (size_t i = 0; i < absolute.size(); ++i) absolute[i] = std::abs(grad[i]);
    room::Reference(n, absolute.data(), indices, magnitude, terms);
    room::Reference(n, grad, indices, out, terms);
  });
}

__attribute__((visibility("default"))) int openaclnn_reference_embedding(const double* weight,
                                                                         const int64_t* indices,
                                                                         int64_t tokens,
                                                                         int64_t width, int64_t,
                                                                         double* out) {
  return Guard([&] { openaclnn::embedding::Reference(tokens, width, weight, indices, out); });
}

}  // extern "C"
