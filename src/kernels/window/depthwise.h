// SPDX-License-Identifier: Apache-2.0
// Convolutions of one input channel each, for few output channels: windows are read as rows of a
// padded image, in lanes. The bits are those of a matrix product (gemm.h) of the same terms.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace openaclnn {

/// Taps of a channel: as many as products add in sequence.
inline constexpr int64_t kDepthwiseTaps = kGemmChunk;

/// Floats behind a padded image that whole vectors may read and write.
inline constexpr int64_t kDepthwiseSlack = 64;

/// An axis of the image that a thread holds padded: coordinates [first, first + length). Tap 0 of
/// place 0 reads the element `tap_origin` of them.
struct PaddedAxis {
  int64_t first = 0, length = 1, tap_origin = 0;
};

/// The coordinates that taps read; false: they are many more than the image has.
bool Reach(const GemmAxis& axis, PaddedAxis* padded);

/// Where the taps of all axes lie in the padded image: `plane` and `line` are the floats from a
/// plane and a line to the next; column(x) is the offset of an element of a line.
template <class Column>
void SetTapOffsets(const std::array<GemmAxis, 3>& axes, const std::array<PaddedAxis, 3>& padded,
                   int64_t plane, int64_t line, Column&& column,
                   std::array<int64_t, kDepthwiseTaps>* offsets) {
  const auto along = [&](size_t i, int64_t tap) {
    return padded[i].tap_origin + tap * axes[i].dilation;
  };
  size_t at = 0;
  for (int64_t z = 0; z < axes[0].taps; ++z) {
    for (int64_t y = 0; y < axes[1].taps; ++y) {
      for (int64_t x = 0; x < axes[2].taps; ++x, ++at) {
        (*offsets)[at] = along(0, z) * plane + along(1, y) * line + column(along(2, x));
      }
    }
  }
}

/// Decisions that are frozen when the call is planned.
struct Depthwise {
  std::array<GemmAxis, 3> axes;          // the slowest one first; divisors are 1
  int64_t taps;                          // of all axes together, at most kDepthwiseTaps
  int64_t images, channels, multiplier;  // each channel has `multiplier` output channels
  int64_t image_step, channel_step;      // elements of the input
  int64_t out_image_step, out_channel_step, weight_step, bias_step;
  std::array<int64_t, 3> out_steps;  // of the axes
  int32_t dtype;                     // of input, weight and output
  int32_t bias_dtype;
  Rounding rounding;

  const struct DepthwiseKernels* kernels;
  std::array<PaddedAxis, 3> padded;
  int64_t line;   // floats of a padded line: its places by their remainder, one after another
  int64_t phase;  // floats of the places of one remainder
  int64_t padded_floats;                        // of an image
  std::array<int64_t, kDepthwiseTaps> offsets;  // of the taps, from the place's first element
  int64_t bodies;

  uint64_t scratch_bytes() const;
};

/// Completes the plan from what stands before `kernels`; false: not for this kernel, since the
/// padded image of a channel would be much larger than the channel.
bool PlanDepthwise(Depthwise* planned);

/// Writes every place. `bias` may be null; `scratch` has scratch_bytes().
void RunDepthwise(const Depthwise& planned, const void* input, const void* weight, const void* bias,
                  void* out, void* scratch);

/// Lines of the image that become lines of the padded image: each has `count` neighbours, and zeros
/// follow them up to the next one's.
struct PaddedLines {
  const void* from;
  int64_t from_step;  // elements from a line to the next
  int32_t dtype;
  Rounding rounding;
  int64_t lines, count;
  float* to;
  int64_t to_step;
};

/// Lines of an output channel, those of one plane.
struct DepthwiseLines {
  const float* from;       // the padded element of tap offset 0 of the first place
  int64_t from_step;       // floats from a line's to the next one's
  const float* weights;    // of the taps
  const int64_t* offsets;  // of the taps
  int64_t taps;
  bool adds;
  float bias;
  void* out;
  int64_t out_line, out_step;  // elements
  int32_t dtype;
  int64_t lines, places;
};

/// The loops that are compiled for each instruction set.
struct DepthwiseKernels {
  /// n elements, `step` apart, as rounded floats.
  void (*load)(const void* from, int64_t step, int32_t dtype, Rounding rounding, int64_t n,
               float* to);
  /// Writes up to kDepthwiseSlack floats behind the last line, too.
  void (*load_lines)(const PaddedLines& lines);
  void (*lines)(const DepthwiseLines& lines);
};
OPENACLNN_TARGET_DECLARE(extern const DepthwiseKernels kDepthwiseKernels)

}  // namespace openaclnn
