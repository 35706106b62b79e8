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

/// sum over begin <= r < end of w[r] * x[r][j:j+16].
template <class T>
F32x16 WeightedSum(const Window& window, int64_t begin, int64_t end, int64_t j) {
  F32x16 sum = F32x16::Broadcast(0.0f);
  for (int64_t r = begin; r < end; ++r) {
    const F32x16 x = F32x16::Load(reinterpret_cast<const T*>(window.x[r]) + j);
    sum = F32x16::MulAdd(F32x16::Broadcast(window.w[r]), x, sum);
  }
  return sum;
}

template <class T>
void CompressWindow(const Window& window) {
  const int64_t half = window.block < kChunk ? window.block : kChunk;
  for (int64_t j = 0; j < window.width; j += kLanes) {
    F32x16 sum = WeightedSum<T>(window, 0, half, j);
    if (half < window.block) sum = sum + WeightedSum<T>(window, half, window.block, j);
    sum.Store(reinterpret_cast<T*>(window.y) + j);
  }
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
