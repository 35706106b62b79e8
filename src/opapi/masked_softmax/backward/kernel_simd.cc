// SPDX-License-Identifier: Apache-2.0
// One row of ScaledMaskedSoftmaxBackward, compiled once for each instruction set.
#include "kernels/rows/sum-inl.h"
#include "kernels/simd/lanes-inl.h"
#include "kernels/simd/stream.h"
#include "masked_softmax/backward/op.h"

namespace openaclnn::masked_softmax::backward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;
using openaclnn::OPENACLNN_TARGET::kLanes;
using openaclnn::OPENACLNN_TARGET::Sum;
using openaclnn::OPENACLNN_TARGET::WholeLanes;

/// The elements of a row that are whole cache lines.
struct Lines {
  int64_t begin, end;
};

template <class T>
Lines LinesOf(const T* row, int64_t n) {
  constexpr int64_t kElements = kCacheLine / sizeof(T);
  const auto bytes = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(row) % kCacheLine);
  const int64_t head = bytes / static_cast<int64_t>(sizeof(T));
  const int64_t begin = head < n ? head : n;
  return {begin, n - (n - begin) % kElements};
}

/// dx = mask ? 0 : scale * (dy*y - y * sum dy*y). dx may be dy or y, but not where kStream.
template <class T, bool kStream>
void RunRow(const Row& row) {
  const auto* const dy = static_cast<const T*>(row.dy);
  const auto* const y = static_cast<const T*>(row.y);
  auto* const dx = static_cast<T*>(row.dx);
  const F32x16 sum = F32x16::Broadcast(
      Sum(row.n, [&](int64_t j, auto lanes) { return lanes.Load(dy + j) * lanes.Load(y + j); }));
  const F32x16 scale = F32x16::Broadcast(row.scale);
  const F32x16 zero = F32x16::Broadcast(0.0f);
  const auto result = [&](int64_t j, auto lanes) {
    const F32x16 g = lanes.Load(dy + j), v = lanes.Load(y + j);
    const F32x16 t = scale * (g * v - v * sum);
    return lanes.Select(row.mask + j, t, zero).template AsResult<T>();
  };
  const auto store = [&](int64_t begin, int64_t end) {
    ForLanes(end - begin,
             [&](int64_t j, auto lanes) { lanes.Store(result(begin + j, lanes), dx + begin + j); });
  };
  if constexpr (kStream) {
    const Lines lines = LinesOf(dx, row.n);
    store(0, lines.begin);
    for (int64_t j = lines.begin; j < lines.end; j += kLanes) {
      result(j, WholeLanes()).Stream(dx + j);
    }
    store(lines.end, row.n);
  } else {
    store(0, row.n);
  }
}

template <bool kStream>
constexpr Kernels kTable = {RunRow<float, kStream>, RunRow<Float16, kStream>,
                            RunRow<BFloat16, kStream>};

}  // namespace

extern const Kernels kKernels = kTable<false>;
extern const Kernels kStreamedKernels = kTable<true>;

}  // namespace openaclnn::masked_softmax::backward::OPENACLNN_TARGET
