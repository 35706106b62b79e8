// SPDX-License-Identifier: Apache-2.0
// Convolutions of single channels: how the image is padded and how the work is handed out.
#include "kernels/window/depthwise.h"

#include <algorithm>

#include "kernels/work/divide_up.h"
#include "kernels/work/parallel_items.h"
#include "kernels/work/scratch.h"

namespace openaclnn {
namespace {

constexpr int64_t kMostBodies = 32;
// Floats of a padded image that are always taken, whatever the channel has.
constexpr int64_t kFewFloats = 1 << 14;

/// Floats between the first element of neighbouring lines and planes of the padded image.
std::array<int64_t, 2> PaddedSteps(const Depthwise& plan) {
  return {plan.line * plan.padded[1].length, plan.line};
}

void SetOffsets(Depthwise* plan) {
  const auto [plane, line] = PaddedSteps(*plan);
  const int64_t stride = plan->axes[2].stride;
  const auto column = [&](int64_t x) { return x % stride * plan->phase + x / stride; };
  SetTapOffsets(plan->axes, plan->padded, plane, line, column, &plan->offsets);
}

/// A line of the image by the remainders of its coordinates, so that neighbours of one tap lie
/// together.
void FillLine(const Depthwise& plan, const std::byte* from, int64_t bytes, float* to) {
  const GemmAxis& axis = plan.axes[2];
  const PaddedAxis& padded = plan.padded[2];
  for (int64_t remainder = 0; remainder < axis.stride; ++remainder, to += plan.phase) {
    // Coordinates padded.first + remainder + i * stride.
    const int64_t first = padded.first + remainder;
    const int64_t count = std::min(
        DivideUp(std::max<int64_t>(padded.length - remainder, 0), axis.stride), plan.phase);
    const int64_t before = std::min(first < 0 ? DivideUp(-first, axis.stride) : 0, count);
    const int64_t room = axis.in - first;
    const int64_t end = std::clamp(room > 0 ? DivideUp(room, axis.stride) : 0, before, count);
    std::fill_n(to, before, 0.0f);
    if (before < end) {
      plan.kernels->load(from + (first + before * axis.stride) * axis.step * bytes,
                         axis.stride * axis.step, plan.dtype, plan.rounding, end - before,
                         to + before);
    }
    std::fill_n(to + end, plan.phase - end, 0.0f);
  }
}

/// A plane of the image whose lines lie in the padded one as they are.
void FillPlane(const Depthwise& plan, const std::byte* plane, int64_t bytes, float* to) {
  const GemmAxis& y_axis = plan.axes[1];
  const GemmAxis& x_axis = plan.axes[2];
  const PaddedAxis& y = plan.padded[1];
  const PaddedAxis& x = plan.padded[2];
  // Lines [top, bottom) and columns [left, right) of the padded plane are the image's.
  const int64_t top = std::clamp<int64_t>(-y.first, 0, y.length);
  const int64_t bottom = std::clamp<int64_t>(y_axis.in - y.first, top, y.length);
  const int64_t left = std::clamp<int64_t>(-x.first, 0, x.length);
  const int64_t right = std::clamp<int64_t>(x_axis.in - x.first, left, x.length);
  float* const end = to + y.length * plan.line;
  if (top == bottom || left == right) return std::fill(to, end, 0.0f);
  float* const inside = to + top * plan.line + left;
  std::fill(to, inside, 0.0f);
  plan.kernels->load_lines(
      {.from = plane + ((y.first + top) * y_axis.step + x.first + left) * bytes,
       .from_step = y_axis.step,
       .dtype = plan.dtype,
       .rounding = plan.rounding,
       .lines = bottom - top,
       .count = right - left,
       .to = inside,
       .to_step = plan.line});
  std::fill(to + bottom * plan.line, end, 0.0f);
}

void FillImage(const Depthwise& plan, const std::byte* channel, int64_t bytes, float* to) {
  const GemmAxis& z_axis = plan.axes[0];
  const GemmAxis& y_axis = plan.axes[1];
  const GemmAxis& x_axis = plan.axes[2];
  const int64_t plane_floats = PaddedSteps(plan)[0];
  for (int64_t z = 0; z < plan.padded[0].length; ++z, to += plane_floats) {
    const int64_t in_z = plan.padded[0].first + z;
    if (in_z < 0 || in_z >= z_axis.in) {
      std::fill_n(to, plane_floats, 0.0f);
      continue;
    }
    const std::byte* const plane = channel + in_z * z_axis.step * bytes;
    if (x_axis.stride == 1 && x_axis.step == 1) {
      FillPlane(plan, plane, bytes, to);
      continue;
    }
    float* line = to;
    for (int64_t y = 0; y < plan.padded[1].length; ++y, line += plan.line) {
      const int64_t in_y = plan.padded[1].first + y;
      if (in_y >= 0 && in_y < y_axis.in) {
        FillLine(plan, plane + in_y * y_axis.step * bytes, bytes, line);
      } else {
        std::fill_n(line, plan.line, 0.0f);
      }
    }
  }
}

}  // namespace

bool Reach(const GemmAxis& axis, PaddedAxis* padded) {
  const int64_t taps = (axis.taps - 1) * axis.dilation;
  const int64_t low = std::min<int64_t>(taps, 0) - axis.pad;
  const int64_t high = std::max<int64_t>(taps, 0) - axis.pad + (axis.out - 1) * axis.stride;
  *padded = {low, high - low + 1, -axis.pad - low};
  return padded->length <= 8 * axis.in + 64;
}

bool PlanDepthwise(Depthwise* plan) {
  plan->kernels = OPENACLNN_TARGET_SELECT(kDepthwiseKernels);
  if (plan->taps > kDepthwiseTaps) return false;
  __int128 in = 1, padded = 1;
  for (size_t i = 0; i < 3; ++i) {
    const GemmAxis& axis = plan->axes[i];
    if (axis.divisor != 1 || !Reach(axis, &plan->padded[i])) return false;
    in *= axis.in;
    padded *= plan->padded[i].length;
  }
  if (padded > std::max<__int128>(4 * in, kFewFloats)) return false;
  plan->phase = DivideUp(plan->padded[2].length, plan->axes[2].stride);
  plan->line = plan->phase * plan->axes[2].stride;
  plan->padded_floats =
      plan->padded[0].length * plan->padded[1].length * plan->line + kDepthwiseSlack;
  SetOffsets(plan);
  const int64_t threads = std::min<int64_t>(Meta()->runtime->threads(), kMostBodies);
  plan->bodies = std::min(plan->images * plan->channels, threads);
  return true;
}

uint64_t Depthwise::scratch_bytes() const {
  return ScratchBytes(__int128{bodies} * padded_floats * static_cast<int>(sizeof(float)));
}

void RunDepthwise(const Depthwise& plan, const void* input, const void* weight, const void* bias,
                  void* out, void* scratch) {
  const auto bytes = static_cast<int64_t>(FindDataType(plan.dtype)->bytes);
  const auto bias_bytes = static_cast<int64_t>(FindDataType(plan.bias_dtype)->bytes);
  const GemmAxis& z_axis = plan.axes[0];
  const GemmAxis& y_axis = plan.axes[1];
  const GemmAxis& x_axis = plan.axes[2];
  const std::array<int64_t, 2> steps = PaddedSteps(plan);
  const int64_t places = z_axis.out * y_axis.out * x_axis.out;
  constexpr double kLong = 1 << 23;  // products, half a millisecond of one thread
  const bool is_long = static_cast<double>(plan.images * plan.channels * plan.multiplier) *
                           static_cast<double>(places * plan.taps) >=
                       kLong;
  ParallelItems(plan.images * plan.channels, plan.bodies, is_long, [&](int64_t item, int64_t body) {
    const int64_t image = item / plan.channels, channel = item % plan.channels;
    float* const padded = static_cast<float*>(scratch) + body * plan.padded_floats;
    FillImage(plan,
              static_cast<const std::byte*>(input) +
                  (image * plan.image_step + channel * plan.channel_step) * bytes,
              bytes, padded);
    for (int64_t m = 0; m < plan.multiplier; ++m) {
      const int64_t to = channel * plan.multiplier + m;
      std::array<float, kDepthwiseTaps> weights;
      plan.kernels->load(static_cast<const std::byte*>(weight) + to * plan.weight_step * bytes, 1,
                         plan.dtype, plan.rounding, plan.taps, weights.data());
      float added = 0;
      if (bias != nullptr) {
        plan.kernels->load(static_cast<const std::byte*>(bias) + to * plan.bias_step * bias_bytes,
                           1, plan.bias_dtype, Rounding::kNone, 1, &added);
      }
      for (int64_t z = 0; z < z_axis.out; ++z) {
        plan.kernels->lines({
            .from = padded + z * z_axis.stride * steps[0],
            .from_step = y_axis.stride * steps[1],
            .weights = weights.data(),
            .offsets = plan.offsets.data(),
            .taps = plan.taps,
            .adds = bias != nullptr,
            .bias = added,
            .out =
                static_cast<std::byte*>(out) +
                (image * plan.out_image_step + to * plan.out_channel_step + z * plan.out_steps[0]) *
                    bytes,
            .out_line = plan.out_steps[1],
            .out_step = plan.out_steps[2],
            .dtype = plan.dtype,
            .lines = y_axis.out,
            .places = x_axis.out,
        });
      }
    }
  });
}

}  // namespace openaclnn
