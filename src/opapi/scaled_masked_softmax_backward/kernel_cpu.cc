// SPDX-License-Identifier: Apache-2.0
// One row of ScaledMaskedSoftmaxBackward, compiled once for each instruction set.
#include "kernels/lanes-inl.h"
#include "kernels/sum-inl.h"
#include "scaled_masked_softmax_backward/op.h"

namespace openaclnn::scaled_masked_softmax_backward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;
using openaclnn::OPENACLNN_TARGET::Sum;

/// dx = mask ? 0 : scale * (dy*y - y * sum dy*y). dx may be dy or y.
template <class T>
void RunRow(const Row& row) {
  const T* dy = static_cast<const T*>(row.dy);
  const T* y = static_cast<const T*>(row.y);
  T* dx = static_cast<T*>(row.dx);
  const F32x16 sum = F32x16::Broadcast(
      Sum(row.n, [&](int64_t j, auto lanes) { return lanes.Load(dy + j) * lanes.Load(y + j); }));
  const F32x16 scale = F32x16::Broadcast(row.scale);
  const F32x16 zero = F32x16::Broadcast(0.0f);
  ForLanes(row.n, [&](int64_t j, auto lanes) {
    const F32x16 g = lanes.Load(dy + j), v = lanes.Load(y + j);
    const F32x16 t = scale * (g * v - v * sum);
    lanes.Store(lanes.Select(row.mask + j, t, zero), dx + j);
  });
}

}  // namespace

extern const Kernels kKernels = {RunRow<float>, RunRow<Float16>, RunRow<BFloat16>};

}  // namespace openaclnn::scaled_masked_softmax_backward::OPENACLNN_TARGET
