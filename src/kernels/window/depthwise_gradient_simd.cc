// SPDX-License-Identifier: Apache-2.0
// Gradients by the weights of single channels: the loops over terms, for one instruction set.
#include <algorithm>

#include "kernels/gemm/gemm_pack-inl.h"
#include "kernels/window/depthwise_gradient.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

static_assert(kGradientLanes == kLanes);

void LoadLanes(const void* from, int64_t channel_step, int64_t channels, int64_t step,
               int32_t dtype, Rounding rounding, int64_t n, float* to) {
  alignas(64) float rows[kLanes * kGemmChunk];
  WithStored(dtype, [&](auto stored) {
    using T = decltype(stored);
    const T* const elements = static_cast<const T*>(from);
    std::fill_n(rows + channels * kGemmChunk, (kLanes - channels) * kGemmChunk, 0.0f);
    for (int64_t at = 0; at < n; at += kGemmChunk) {
      const int64_t count = Least(kGemmChunk, n - at);
      for (int64_t channel = 0; channel < channels; ++channel) {
        float* const row = rows + channel * kGemmChunk;
        Widen<T>(reinterpret_cast<const std::byte*>(elements + channel * channel_step + at * step),
                 step, count, row);
        Round(rounding, count, row);
      }
      Transpose(rows, kGemmChunk, kLanes, count, to + at * kLanes, kLanes);
    }
  });
}

/// kTaps taps from `tap` on: the chunk's sum in the order of gemm.h, joined with those that wait.
template <int kTaps>
void AddTaps(const GradientChunk& chunk, int64_t tap) {
  F32x16 sum[kTaps];
  for (F32x16& each : sum) each = F32x16::Broadcast(0.0f);
  const int64_t* const offsets = chunk.offsets + tap;
  const auto add = [&](int64_t term) __attribute__((always_inline)) {
    const F32x16 grad = F32x16::Load(chunk.grad + chunk.grad_at[term]);
    const float* const input = chunk.input + chunk.input_at[term];
#pragma GCC unroll 8
    for (int t = 0; t < kTaps; ++t) {
      sum[t] = F32x16::MulAdd(grad, F32x16::Load(input + offsets[t]), sum[t]);
    }
  };
  for (int64_t term = 0; term + 2 <= chunk.terms; term += 2) {
    add(term + 1);
    add(term);
  }
  if (chunk.terms % 2 != 0) add(chunk.terms - 1);
  const int64_t level_floats = chunk.taps * kLanes;
  float* const waiting = chunk.waiting + tap * kLanes;
  const auto join = [&](int64_t level) {
    for (int t = 0; t < kTaps; ++t) {
      sum[t] = F32x16::Load(waiting + level * level_floats + t * kLanes) + sum[t];
    }
  };
  const auto wait = [&](int64_t level) {
    for (int t = 0; t < kTaps; ++t) sum[t].Store(waiting + level * level_floats + t * kLanes);
  };
  int64_t level = 0;
  for (; (chunk.index >> level & 1) != 0; ++level) join(level);
  if (!chunk.last) return wait(level);
  for (const int64_t count = chunk.index + 1; count >> ++level != 0;) {
    if ((count >> level & 1) != 0) join(level);
  }
  wait(0);
}

void AddChunk(const GradientChunk& chunk) {
  int64_t tap = 0;
  for (; tap + 8 <= chunk.taps; tap += 8) AddTaps<8>(chunk, tap);
  if ((chunk.taps & 4) != 0) AddTaps<4>(chunk, tap), tap += 4;
  if ((chunk.taps & 2) != 0) AddTaps<2>(chunk, tap), tap += 2;
  if ((chunk.taps & 1) != 0) AddTaps<1>(chunk, tap);
}

void StoreLanes(const float* sums, int64_t channels, int32_t dtype, int64_t step, void* to) {
  WithStored(dtype, [&](auto stored) {
    using T = decltype(stored);
    T dense[kLanes];
    F32x16::Load(sums).template AsResult<T>().Store(dense);
    for (int64_t i = 0; i < channels; ++i) static_cast<T*>(to)[i * step] = dense[i];
  });
}

}  // namespace

extern const DepthwiseGradientKernels kDepthwiseGradientKernels = {LoadLanes, AddChunk, StoreLanes};

}  // namespace openaclnn::OPENACLNN_TARGET
