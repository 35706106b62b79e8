// SPDX-License-Identifier: Apache-2.0
// One row of ScaledMaskedSoftmax, compiled once for each instruction set.
#include "kernels/exp-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/row-inl.h"
#include "kernels/sum-inl.h"
#include "masked_softmax/forward/op.h"

namespace openaclnn::masked_softmax::forward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::ExpOfNonPositive;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;
using openaclnn::OPENACLNN_TARGET::kLanes;
using openaclnn::OPENACLNN_TARGET::RowLanes;
using openaclnn::OPENACLNN_TARGET::Sum;

constexpr float kMasked = -10000.0f;

/// z = mask ? -10000 : scale*x; e = exp(z - max z); y = e / sum e.
template <class T, bool kDense>
void RunRow(const Row& row) {
  const RowLanes<const T, kDense> x = {static_cast<const T*>(row.x), row.x_step};
  const RowLanes<const uint8_t, kDense> mask = {row.mask, row.mask_step};
  const RowLanes<T, kDense> y = {static_cast<T*>(row.y), row.y_step};
  // In whole lanes: beyond the row z is the least and e is 0.
  alignas(64) float e[kMaxWidth];
  const int64_t whole = (row.n + kLanes - 1) / kLanes * kLanes;
  const F32x16 scale = F32x16::Broadcast(row.scale);
  const F32x16 masked = F32x16::Broadcast(kMasked);
  F32x16 largest = F32x16::Broadcast(-__builtin_inff());
  ForLanes(row.n, [&](int64_t j, auto lanes) {
    const F32x16 z = mask.Select(j, lanes, scale * x.Load(j, lanes), masked);
    const F32x16 filled = lanes.Fill(z, -__builtin_inff());
    largest = F32x16::Max(largest, filled);
    filled.Store(e + j);
  });
  // A NaN may or may not be the largest: the exponentials of the row have it either way.
  largest = F32x16::Broadcast(largest.Largest());
  for (int64_t j = 0; j < whole; j += kLanes) {
    ExpOfNonPositive(F32x16::Load(e + j) - largest).Store(e + j);
  }
  const F32x16 sum =
      F32x16::Broadcast(Sum(whole, [&](int64_t j, auto) { return F32x16::Load(e + j); }));
  ForLanes(row.n, [&](int64_t j, auto lanes) { y.Store(F32x16::Load(e + j) / sum, j, lanes); });
}

template <bool kDense>
constexpr Kernels kTable = {RunRow<float, kDense>, RunRow<Float16, kDense>,
                            RunRow<BFloat16, kDense>};

}  // namespace

extern const Kernels kDenseKernels = kTable<true>;
extern const Kernels kStridedKernels = kTable<false>;

}  // namespace openaclnn::masked_softmax::forward::OPENACLNN_TARGET
