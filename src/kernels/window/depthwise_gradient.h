// SPDX-License-Identifier: Apache-2.0
// The gradient by the weights of a convolution of single channels: sixteen channels are summed
// beside each other in lanes. The bits are those of a matrix product (gemm.h) of the same terms.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/window/depthwise.h"

namespace openaclnn {

/// Channels that are summed together.
inline constexpr int64_t kGradientLanes = 16;

/// Decisions that are frozen when the call is planned.
struct DepthwiseGradient {
  std::array<GemmAxis, 3> axes;          // the slowest one first; divisors are 1
  int64_t taps;                          // of all axes together, at most kDepthwiseTaps
  int64_t images, channels, multiplier;  // each channel of the input has `multiplier` gradients
  int64_t image_step, channel_step;      // elements of the input
  int64_t grad_image_step, grad_channel_step;
  std::array<int64_t, 3> grad_steps;  // of the axes
  int64_t out_channel_step, out_tap_step;
  int32_t dtype, out_dtype;  // of input and gradient; of the result
  Rounding rounding;
  uint64_t most_bytes;  // that the scratch may have

  const struct DepthwiseGradientKernels* kernels;
  std::array<PaddedAxis, 3> padded;
  int64_t places;         // of an image
  int64_t padded_places;  // of a padded image
  int64_t slots;          // images that are held at a time: those that a chunk of terms meets
  int64_t levels;         // sums that wait for their partner
  std::array<int64_t, kDepthwiseTaps> offsets;  // of the taps, in floats
  int64_t bodies;

  uint64_t scratch_bytes() const;
};

/// Completes the plan from what stands before `kernels`; false: not for this kernel.
bool PlanDepthwiseGradient(DepthwiseGradient* planned);

/// Writes the gradients of all channels and taps; `scratch` has scratch_bytes().
void RunDepthwiseGradient(const DepthwiseGradient& planned, const void* input, const void* grad,
                          void* out, void* scratch);

/// A chunk of terms, of all taps.
struct GradientChunk {
  const float* input;
  const float* grad;
  const int64_t* input_at;  // of each term: floats to the lanes of tap offset 0
  const int64_t* grad_at;
  const int64_t* offsets;  // of the taps
  int64_t terms, taps;
  float* waiting;  // sums of chunks: level by level, tap by tap
  int64_t index;   // of the chunk
  bool last;       // then the sums are left on level 0
};

/// The loops that are compiled for each instruction set.
struct DepthwiseGradientKernels {
  /// n elements of `channels` channels as lanes; missing channels are zeros.
  void (*load)(const void* from, int64_t channel_step, int64_t channels, int64_t step,
               int32_t dtype, Rounding rounding, int64_t n, float* to);
  void (*add)(const GradientChunk& chunk);
  /// Sums of a tap, of so many channels.
  void (*store)(const float* sums, int64_t channels, int32_t dtype, int64_t step, void* to);
};
OPENACLNN_TARGET_DECLARE(extern const DepthwiseGradientKernels kDepthwiseGradientKernels)

}  // namespace openaclnn
