// SPDX-License-Identifier: Apache-2.0
// Gradients by the weights of single channels: which images are held, and how the work is handed
// out.
#include "kernels/window/depthwise_gradient.h"

#include <algorithm>
#include <bit>

#include "kernels/work/divide_up.h"
#include "kernels/work/parallel_items.h"
#include "kernels/work/scratch.h"

namespace openaclnn {
namespace {

constexpr int64_t kMostBodies = 32;

int64_t Terms(const DepthwiseGradient& plan) { return plan.images * plan.places; }

int64_t Items(const DepthwiseGradient& plan) {
  return DivideUp(plan.channels, kGradientLanes) * plan.multiplier;
}

/// Floats of a body: images, gradients, and sums that wait.
__int128 BodyFloats(const DepthwiseGradient& plan) {
  return kGradientLanes * (__int128{plan.slots} * (plan.padded_places + plan.places) +
                           __int128{plan.levels} * plan.taps);
}

void SetOffsets(DepthwiseGradient* plan) {
  const int64_t line = plan->padded[2].length * kGradientLanes;
  const int64_t plane = line * plan->padded[1].length;
  const auto column = [](int64_t x) { return x * kGradientLanes; };
  SetTapOffsets(plan->axes, plan->padded, plane, line, column, &plan->offsets);
}

/// A group of channels: images are loaded in turn, and each chunk is summed as soon as all of its
/// terms are there.
class Channels {
 public:
  Channels(const DepthwiseGradient& plan, const std::byte* input, const std::byte* grad,
           int64_t channels, float* own)
      : plan_(plan),
        input_(input),
        grad_(grad),
        channels_(channels),
        padded_(own),
        grads_(padded_ + plan.slots * plan.padded_places * kGradientLanes),
        waiting_(grads_ + plan.slots * plan.places * kGradientLanes) {}

  void Sum() {
    const int64_t terms = Terms(plan_);
    for (int64_t image = 0; image < plan_.images; ++image) {
      LoadImage(image);
      LoadGradient(image);
      const int64_t there = (image + 1) * plan_.places;
      while (next_ < terms && std::min(next_ + kGemmChunk, terms) <= there) AddChunk();
    }
  }

  const float* sums() const { return waiting_; }

 private:
  int64_t bytes() const { return static_cast<int64_t>(FindDataType(plan_.dtype)->bytes); }

  void LoadImage(int64_t image) const {
    const auto& [z_axis, y_axis, x_axis] = plan_.axes;
    const PaddedAxis& along = plan_.padded[2];
    float* to = padded_ + image % plan_.slots * plan_.padded_places * kGradientLanes;
    const int64_t before = std::clamp<int64_t>(-along.first, 0, along.length);
    const int64_t inside = std::clamp<int64_t>(x_axis.in - along.first, before, along.length);
    for (int64_t z = 0; z < plan_.padded[0].length; ++z) {
      for (int64_t y = 0; y < plan_.padded[1].length; ++y, to += along.length * kGradientLanes) {
        const int64_t in_z = plan_.padded[0].first + z, in_y = plan_.padded[1].first + y;
        const bool there = in_z >= 0 && in_z < z_axis.in && in_y >= 0 && in_y < y_axis.in;
        const int64_t end = there ? inside : before;
        std::fill_n(to, before * kGradientLanes, 0.0f);
        if (before < end) {
          const int64_t at = image * plan_.image_step + in_z * z_axis.step + in_y * y_axis.step +
                             (along.first + before) * x_axis.step;
          plan_.kernels->load(input_ + at * bytes(), plan_.channel_step, channels_, x_axis.step,
                              plan_.dtype, plan_.rounding, end - before,
                              to + before * kGradientLanes);
        }
        std::fill_n(to + end * kGradientLanes, (along.length - end) * kGradientLanes, 0.0f);
      }
    }
  }

  void LoadGradient(int64_t image) const {
    const auto& [z_axis, y_axis, x_axis] = plan_.axes;
    float* to = grads_ + image % plan_.slots * plan_.places * kGradientLanes;
    for (int64_t z = 0; z < z_axis.out; ++z) {
      for (int64_t y = 0; y < y_axis.out; ++y, to += x_axis.out * kGradientLanes) {
        const int64_t at =
            image * plan_.grad_image_step + z * plan_.grad_steps[0] + y * plan_.grad_steps[1];
        plan_.kernels->load(grad_ + at * bytes(), plan_.grad_channel_step * plan_.multiplier,
                            channels_, plan_.grad_steps[2], plan_.dtype, plan_.rounding, x_axis.out,
                            to);
      }
    }
  }

  void AddChunk() {
    const auto& [z_axis, y_axis, x_axis] = plan_.axes;
    const int64_t count = std::min(kGemmChunk, Terms(plan_) - next_);
    std::array<int64_t, kGemmChunk> input_at, grad_at;
    const int64_t line = plan_.padded[2].length, plane = line * plan_.padded[1].length;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      input_at[i] = kGradientLanes *
                    (image_ % plan_.slots * plan_.padded_places + z_ * z_axis.stride * plane +
                     y_ * y_axis.stride * line + x_ * x_axis.stride);
      const int64_t place = (z_ * y_axis.out + y_) * x_axis.out + x_;
      grad_at[i] = kGradientLanes * (image_ % plan_.slots * plan_.places + place);
      if (++x_ < x_axis.out) continue;
      x_ = 0;
      if (++y_ < y_axis.out) continue;
      y_ = 0;
      if (++z_ < z_axis.out) continue;
      z_ = 0;
      ++image_;
    }
    plan_.kernels->add({.input = padded_,
                        .grad = grads_,
                        .input_at = input_at.data(),
                        .grad_at = grad_at.data(),
                        .offsets = plan_.offsets.data(),
                        .terms = count,
                        .taps = plan_.taps,
                        .waiting = waiting_,
                        .index = next_ / kGemmChunk,
                        .last = next_ + count == Terms(plan_)});
    next_ += count;
  }

  const DepthwiseGradient& plan_;
  const std::byte *input_, *grad_;
  int64_t channels_;
  float *padded_, *grads_, *waiting_;
  int64_t next_ = 0;                           // the first term that is not summed
  int64_t image_ = 0, z_ = 0, y_ = 0, x_ = 0;  // its place
};

}  // namespace

bool PlanDepthwiseGradient(DepthwiseGradient* plan) {
  plan->kernels = OPENACLNN_TARGET_SELECT(kDepthwiseGradientKernels);
  plan->places = plan->padded_places = 1;
  __int128 padded = 1;
  for (size_t i = 0; i < 3; ++i) {
    const GemmAxis& axis = plan->axes[i];
    if (axis.divisor != 1 || !Reach(axis, &plan->padded[i])) return false;
    plan->places *= axis.out;
    padded *= plan->padded[i].length;
  }
  if (plan->taps > kDepthwiseTaps || Terms(*plan) == 0 || padded > INT32_MAX) return false;
  plan->padded_places = static_cast<int64_t>(padded);
  plan->slots = DivideUp(kGemmChunk, plan->places) + 1;
  plan->levels = std::bit_width(static_cast<uint64_t>(DivideUp(Terms(*plan), kGemmChunk))) + 1;
  SetOffsets(plan);
  const int64_t threads = std::min<int64_t>(Meta()->runtime->threads(), kMostBodies);
  plan->bodies = std::min(Items(*plan), threads);
  return plan->scratch_bytes() <= plan->most_bytes;
}

uint64_t DepthwiseGradient::scratch_bytes() const {
  return ScratchBytes(bodies * BodyFloats(*this) * static_cast<int>(sizeof(float)));
}

void RunDepthwiseGradient(const DepthwiseGradient& plan, const void* input, const void* grad,
                          void* out, void* scratch) {
  const auto bytes = static_cast<int64_t>(FindDataType(plan.dtype)->bytes);
  const auto out_bytes = static_cast<int64_t>(FindDataType(plan.out_dtype)->bytes);
  constexpr double kLong = 1 << 23;  // products, half a millisecond of one thread
  const bool is_long = static_cast<double>(Terms(plan)) * static_cast<double>(plan.taps) *
                           static_cast<double>(plan.channels * plan.multiplier) >=
                       kLong;
  ParallelItems(Items(plan), plan.bodies, is_long, [&](int64_t item, int64_t body) {
    const int64_t m = item % plan.multiplier, first = item / plan.multiplier * kGradientLanes;
    const int64_t channels = std::min(kGradientLanes, plan.channels - first);
    const int64_t grad_channel = first * plan.multiplier + m;
    Channels group(
        plan, static_cast<const std::byte*>(input) + first * plan.channel_step * bytes,
        static_cast<const std::byte*>(grad) + grad_channel * plan.grad_channel_step * bytes,
        channels, static_cast<float*>(scratch) + body * static_cast<int64_t>(BodyFloats(plan)));
    group.Sum();
    for (int64_t tap = 0; tap < plan.taps; ++tap) {
      plan.kernels->store(
          group.sums() + tap * kGradientLanes, channels, plan.out_dtype,
          plan.out_channel_step * plan.multiplier,
          static_cast<std::byte*>(out) +
              (grad_channel * plan.out_channel_step + tap * plan.out_tap_step) * out_bytes);
    }
  });
}

}  // namespace openaclnn
