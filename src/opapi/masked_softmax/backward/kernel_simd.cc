// SPDX-License-Identifier: Apache-2.0
// One row of ScaledMaskedSoftmaxBackward, compiled once for each instruction set.
#include "kernels/lanes-inl.h"
#include "kernels/row-inl.h"
#include "kernels/sum-inl.h"
#include "masked_softmax/backward/op.h"

namespace openaclnn::masked_softmax::backward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;
using openaclnn::OPENACLNN_TARGET::RowLanes;
using openaclnn::OPENACLNN_TARGET::Sum;

/// dx = mask ? 0 : scale * (dy*y - y * sum dy*y). dx may be dy or y, but not where kStream.
template <class T, bool kDense, bool kStream>
void RunRow(const Row& row) {
  const RowLanes<const T, kDense> dy = {static_cast<const T*>(row.dy), row.dy_step};
  const RowLanes<const T, kDense> y = {static_cast<const T*>(row.y), row.y_step};
  const RowLanes<const uint8_t, kDense> mask = {row.mask, row.mask_step};
  const RowLanes<T, kDense> dx = {static_cast<T*>(row.dx), row.dx_step};
  const F32x16 sum = F32x16::Broadcast(
      Sum(row.n, [&](int64_t j, auto lanes) { return dy.Load(j, lanes) * y.Load(j, lanes); }));
  const F32x16 scale = F32x16::Broadcast(row.scale);
  const F32x16 zero = F32x16::Broadcast(0.0f);
  ForLanes(row.n, [&](int64_t j, auto lanes) {
    const F32x16 g = dy.Load(j, lanes), v = y.Load(j, lanes);
    const F32x16 t = scale * (g * v - v * sum);
    const F32x16 result = mask.Select(j, lanes, t, zero);
    if constexpr (kStream) {
      dx.Stream(result, j);
    } else {
      dx.Store(result, j, lanes);
    }
  });
}

template <bool kDense, bool kStream = false>
constexpr Kernels kTable = {RunRow<float, kDense, kStream>, RunRow<Float16, kDense, kStream>,
                            RunRow<BFloat16, kDense, kStream>};

}  // namespace

extern const Kernels kDenseKernels = kTable<true>;
extern const Kernels kStridedKernels = kTable<false>;
extern const Kernels kStreamedKernels = kTable<true, true>;

}  // namespace openaclnn::masked_softmax::backward::OPENACLNN_TARGET
