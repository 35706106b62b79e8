// SPDX-License-Identifier: Apache-2.0
// The loops of NsaCompress, compiled once for each instruction set.
#include "kernels/lanes-inl.h"
#include "nsa_compress/forward/op.h"

namespace openaclnn::nsa_compress::forward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;
using openaclnn::OPENACLNN_TARGET::kLanes;

// Terms added in sequence before the tree takes over; block is at most two chunks.
constexpr int64_t kChunk = 64;
static_assert(kMaxBlock <= 2 * kChunk);

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

template <class T>
void Widen(const void* from, int64_t n, float* to) {
  ForLanes(n, [&](int64_t j, auto lanes) {
    lanes.Store(lanes.Load(static_cast<const T*>(from) + j), to + j);
  });
}

}  // namespace

extern const Kernels kFloat16Kernels = {CompressWindow<Float16>, Widen<Float16>};
extern const Kernels kBFloat16Kernels = {CompressWindow<BFloat16>, Widen<BFloat16>};

}  // namespace openaclnn::nsa_compress::forward::OPENACLNN_TARGET
