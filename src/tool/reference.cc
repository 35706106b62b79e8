// SPDX-License-Identifier: Apache-2.0
// The float64 references of all operators as C functions, for the command-line tool.
//
// Each gives the value of an output and, where its terms are rounded, their magnitude: the formula
// over absolute values. A null magnitude is not wanted. Numbers are int64_t or double throughout;
// the caller has checked values that are positions.
#include "conv_tbc/forward/reference.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "conv_tbc/backward/reference.h"
#include "embedding/backward/reference.h"
#include "embedding/forward/reference.h"
#include "grouped_bias/backward/reference.h"
#include "masked_softmax/backward/reference.h"
#include "masked_softmax/forward/reference.h"
#include "nsa_compress/backward/reference.h"
#include "nsa_compress/forward/reference.h"

#define OPENACLNN_EXPORT __attribute__((visibility("default")))

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

std::vector<double> Absolute(const double* values, int64_t count) {
  std::vector<double> absolute(static_cast<size_t>(count));
  for (size_t i = 0; i < absolute.size(); ++i) absolute[i] = std::abs(values[i]);
  return absolute;
}

/// How many roundings of its argument e^z_j feels, and the mean of that over the row: z is rounded
/// when it is scaled, and again when the largest is taken from it.
void SoftmaxRoundings(int64_t n, const double* x, const uint8_t* mask, double scale,
                      const double* y, double* roundings) {
  double largest = -HUGE_VAL, mean = 0;
  for (int64_t j = 0; j < n; ++j) {
    roundings[j] = mask[j] != 0 ? -10000 : scale * x[j];
    largest = std::fmax(largest, roundings[j]);
  }
  for (int64_t j = 0; j < n; ++j) {
    const double z = roundings[j];
    roundings[j] = y[j] != 0 ? (mask[j] != 0 ? 0 : std::abs(z)) + std::abs(z - largest) : 0;
    mean += y[j] * roundings[j];
  }
  for (int64_t j = 0; j < n; ++j) roundings[j] += mean;
}

/// mask ? 0 : |scale| * (|dy*y| + |y| * sum |dy*y|).
void SoftmaxGradMagnitude(int64_t n, const double* dy, const double* y, const uint8_t* mask,
                          double scale, double* magnitude) {
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += std::abs(dy[j] * y[j]);
  for (int64_t j = 0; j < n; ++j) {
    const double terms = std::abs(dy[j] * y[j]) + std::abs(y[j]) * sum;
    magnitude[j] = mask[j] != 0 ? 0 : std::abs(scale) * terms;
  }
}

}  // namespace

extern "C" {

/// out, magnitude (in_length + 2 * pad + 1 - taps, batch, out_channels).
OPENACLNN_EXPORT int openaclnn_reference_conv_tbc(const double* self, const double* weight,
                                                  const double* bias, int64_t in_length,
                                                  int64_t batch, int64_t in_channels,
                                                  int64_t out_channels, int64_t taps, int64_t pad,
                                                  double* out, double* magnitude) {
  namespace room = openaclnn::conv_tbc;
  return Guard([&] {
    const room::ReferenceSizes n = {in_length, batch, in_channels, out_channels, taps, pad};
    room::Reference(n, self, weight, bias, out);
    if (magnitude == nullptr) return;
    room::Reference(n, Absolute(self, in_length * batch * in_channels).data(),
                    Absolute(weight, taps * in_channels * out_channels).data(),
                    Absolute(bias, out_channels).data(), magnitude);
  });
}

/// grad_input, grad_weight and grad_bias, or the magnitudes of all three when the inputs are
/// absolute values; `stored` is self before it is rounded for the other two.
OPENACLNN_EXPORT int openaclnn_reference_conv_tbc_backward(
    const double* self, const double* stored, const double* input, const double* weight,
    int64_t in_length, int64_t batch, int64_t in_channels, int64_t out_channels, int64_t taps,
    int64_t pad, double* grad_input, double* grad_weight, double* grad_bias) {
  namespace room = openaclnn::conv_tbc_backward;
  return Guard([&] {
    const room::ReferenceSizes n = {in_length, batch, in_channels, out_channels, taps, pad};
    room::ReferenceInput(n, self, weight, grad_input);
    room::ReferenceWeight(n, self, input, grad_weight);
    room::ReferenceBias(n, stored, grad_bias);
  });
}

/// out (tokens, width): rows of weight.
OPENACLNN_EXPORT int openaclnn_reference_embedding(const double* weight, const int64_t* indices,
                                                   int64_t tokens, int64_t width, double* out) {
  return Guard([&] { openaclnn::embedding::Reference(tokens, width, weight, indices, out); });
}

/// out, magnitude (num_weights, width); terms (num_weights): how many there are in each row's sums.
OPENACLNN_EXPORT int openaclnn_reference_embedding_dense_backward(
    const double* grad, const int64_t* indices, int64_t tokens, int64_t width, int64_t num_weights,
    int64_t padding_idx, int64_t scale_grad_by_freq, double* out, double* magnitude,
    int64_t* terms) {
  namespace room = openaclnn::embedding_dense_backward;
  return Guard([&] {
    const room::ReferenceSizes n = {tokens, width, static_cast<uint64_t>(num_weights),
                                    static_cast<uint64_t>(padding_idx), scale_grad_by_freq != 0};
    room::Reference(n, grad, indices, out, terms);
    if (magnitude == nullptr) return;
    room::Reference(n, Absolute(grad, tokens * width).data(), indices, magnitude, terms);
  });
}

/// out, magnitude (groups, width); ends (groups) rise from 0 to the rows of grad_y.
OPENACLNN_EXPORT int openaclnn_reference_grouped_bias_add_grad(const double* grad_y,
                                                               const int64_t* ends, int64_t groups,
                                                               int64_t width, double* out,
                                                               double* magnitude) {
  namespace room = openaclnn::grouped_bias_add_grad;
  return Guard([&] {
    const int64_t rows = groups == 0 ? 0 : ends[groups - 1];
    room::Reference(groups, width, ends, grad_y, out);
    if (magnitude == nullptr) return;
    room::Reference(groups, width, ends, Absolute(grad_y, rows * width).data(), magnitude);
  });
}

/// output, magnitude (windows, heads, width); starts (windows): the first token of each.
OPENACLNN_EXPORT int openaclnn_reference_nsa_compress(const double* input, const double* weight,
                                                      const int64_t* starts, int64_t tokens,
                                                      int64_t heads, int64_t width, int64_t block,
                                                      int64_t windows, double* output,
                                                      double* magnitude) {
  namespace room = openaclnn::nsa_compress;
  return Guard([&] {
    const room::ReferenceSizes n = {heads, width, block, windows};
    room::Reference(n, starts, input, weight, output);
    if (magnitude == nullptr) return;
    room::Reference(n, starts, Absolute(input, tokens * heads * width).data(),
                    Absolute(weight, block * heads).data(), magnitude);
  });
}

/// input_grad (tokens, heads, width) and weight_grad (block, heads), and the magnitudes of both.
OPENACLNN_EXPORT int openaclnn_reference_nsa_compress_grad(
    const double* output_grad, const double* input, const double* weight, const int64_t* starts,
    int64_t tokens, int64_t heads, int64_t width, int64_t block, int64_t windows,
    double* input_grad, double* weight_grad, double* input_magnitude, double* weight_magnitude) {
  namespace room = openaclnn::nsa_compress_grad;
  return Guard([&] {
    const room::ReferenceSizes n = {tokens, heads, width, block, windows};
    room::Reference(n, starts, output_grad, input, weight, input_grad, weight_grad);
    if (input_magnitude == nullptr) return;
    room::Reference(n, starts, Absolute(output_grad, windows * heads * width).data(),
                    Absolute(input, tokens * heads * width).data(),
                    Absolute(weight, block * heads).data(), input_magnitude, weight_magnitude);
  });
}

/// y, roundings (rows, width): y_j is as uncertain as a sum of its magnitude and `roundings` more.
OPENACLNN_EXPORT int openaclnn_reference_scaled_masked_softmax(const double* x, const uint8_t* mask,
                                                               int64_t rows, int64_t width,
                                                               double scale, double* y,
                                                               double* roundings) {
  return Guard([&] {
    for (int64_t i = 0; i < rows * width; i += width) {
      openaclnn::scaled_masked_softmax::Reference(width, x + i, mask + i, scale, y + i);
      if (roundings == nullptr) continue;
      SoftmaxRoundings(width, x + i, mask + i, scale, y + i, roundings + i);
    }
  });
}

/// out, magnitude (rows, width).
OPENACLNN_EXPORT int openaclnn_reference_scaled_masked_softmax_backward(
    const double* grad_output, const double* y, const uint8_t* mask, int64_t rows, int64_t width,
    double scale, double* out, double* magnitude) {
  namespace room = openaclnn::scaled_masked_softmax_backward;
  return Guard([&] {
    for (int64_t i = 0; i < rows * width; i += width) {
      room::Reference(width, grad_output + i, y + i, mask + i, scale, out + i);
      if (magnitude == nullptr) continue;
      SoftmaxGradMagnitude(width, grad_output + i, y + i, mask + i, scale, magnitude + i);
    }
  });
}

}  // extern "C"
