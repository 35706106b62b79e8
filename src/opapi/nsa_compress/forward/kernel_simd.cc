// SPDX-License-Identifier: Apache-2.0
// The loops of NsaCompress, compiled once for each instruction set.
#include "kernels/simd/lanes-inl.h"
#include "nsa_compress/forward/op.h"

namespace openaclnn::nsa_compress::forward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;
using openaclnn::OPENACLNN_TARGET::kLanes;

// Groups of lanes that are summed side by side, as many as there are registers for: an addition
// waits for the one before it. Speed against one at a time without asking for the next head, on one
// thread of a Zen 4: 1.3 to 2.8.
constexpr int kAtOnce = 8 / openaclnn::OPENACLNN_TARGET::kRegisters;

/// sums[g] = sum over begin <= r < end of w[r] * x[r][j+16g:j+16g+16], for kGroups of them. The
/// same of the rows to come is asked for meanwhile.
template <int kGroups, class T>
inline __attribute__((always_inline)) void WeightedSums(const Window& window, int64_t begin,
                                                        int64_t end, int64_t j, F32x16* sums) {
  constexpr int64_t kLine = 64 / sizeof(T);
  constexpr int kSecondLevel = 2;
#pragma GCC unroll 8
  for (int g = 0; g < kGroups; ++g) sums[g] = F32x16::Broadcast(0.0f);
  for (int64_t r = begin; r < end; ++r) {
    const T* x = reinterpret_cast<const T*>(window.x[r]) + j;
    const F32x16 w = F32x16::Broadcast(window.w[r]);
    for (int64_t i = 0; i < kGroups * kLanes; i += kLine) {
      __builtin_prefetch(x + window.ahead + i, /*rw=*/0, kSecondLevel);
    }
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) {
      sums[g] = F32x16::MulAdd(w, F32x16::Load(x + g * kLanes), sums[g]);
    }
  }
}

/// Columns from j on, kGroups of lanes at once, then what is left by fewer.
template <int kGroups, class T>
void CompressColumns(const Window& window, int64_t j) {
  const int64_t half = window.block < kChunk ? window.block : kChunk;
  for (; j + kGroups * kLanes <= window.width; j += kGroups * kLanes) {
    F32x16 sums[kGroups];
    WeightedSums<kGroups, T>(window, 0, half, j, sums);
    if (half < window.block) {
      F32x16 others[kGroups];
      WeightedSums<kGroups, T>(window, half, window.block, j, others);
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; ++g) sums[g] = sums[g] + others[g];
    }
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g)
      sums[g].Store(reinterpret_cast<T*>(window.y) + j + g * kLanes);
  }
  if constexpr (kGroups > 1) CompressColumns<kGroups / 2, T>(window, j);
}

template <class T>
void CompressWindow(const Window& window) {
  CompressColumns<kAtOnce, T>(window, 0);
}

/// Columns from j on, as CompressColumns; each token is read once for both of its windows.
template <int kGroups, bool kOlder, bool kNewer, class T>
void StepColumns(const Step& step, int64_t j) {
  constexpr int64_t kLine = 64;
  constexpr int kSecondLevel = 2;
  for (; j + kGroups * kLanes <= step.width; j += kGroups * kLanes) {
    F32x16 older[kGroups], newer[kGroups];
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) {
      if constexpr (kOlder) older[g] = F32x16::Load(step.sums + j + g * kLanes);
      newer[g] = F32x16::Broadcast(0.0f);
    }
    const std::byte* x = step.x + j * sizeof(T);
    for (int64_t r = 0; r < step.stride; ++r, x += step.x_token) {
      for (int64_t i = 0; i < int64_t{kGroups * kLanes * sizeof(T)}; i += kLine) {
        __builtin_prefetch(x + step.ahead + i, /*rw=*/0, kSecondLevel);
      }
      const F32x16 first = F32x16::Broadcast(step.w[r]);
      const F32x16 second = F32x16::Broadcast(step.w[step.stride + r]);
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) {
        const F32x16 lanes = F32x16::Load(reinterpret_cast<const T*>(x) + g * kLanes);
        if constexpr (kOlder) older[g] = F32x16::MulAdd(second, lanes, older[g]);
        if constexpr (kNewer) newer[g] = F32x16::MulAdd(first, lanes, newer[g]);
      }
    }
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) {
      const int64_t at = j + g * kLanes;
      if constexpr (kOlder) older[g].Store(reinterpret_cast<T*>(step.y) + at);
      if constexpr (kNewer) newer[g].Store(step.sums + at);
    }
  }
  if constexpr (kGroups > 1) StepColumns<kGroups / 2, kOlder, kNewer, T>(step, j);
}

template <class T>
void TakeStep(const Step& step) {
  constexpr int kBoth = kAtOnce / 2;
  if (step.y == nullptr) return StepColumns<kBoth, false, true, T>(step, 0);
  step.more ? StepColumns<kBoth, true, true, T>(step, 0)
            : StepColumns<kBoth, true, false, T>(step, 0);
}

template <class T>
void Widen(const void* from, int64_t n, float* to) {
  ForLanes(n, [&](int64_t j, auto lanes) {
    lanes.Store(lanes.Load(static_cast<const T*>(from) + j), to + j);
  });
}

}  // namespace

extern const Kernels kFloat16Kernels = {CompressWindow<Float16>, TakeStep<Float16>, Widen<Float16>};
extern const Kernels kBFloat16Kernels = {CompressWindow<BFloat16>, TakeStep<BFloat16>,
                                         Widen<BFloat16>};

}  // namespace openaclnn::nsa_compress::forward::OPENACLNN_TARGET
