// SPDX-License-Identifier: Apache-2.0
// One row of ScaledMaskedSoftmax, compiled once for each instruction set.
#include "kernels/rows/sum-inl.h"
#include "kernels/simd/exp-inl.h"
#include "kernels/simd/lanes-inl.h"
#include "masked_softmax/forward/op.h"

namespace openaclnn::masked_softmax::forward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::ExpOfNonPositive;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;
using openaclnn::OPENACLNN_TARGET::kLanes;
using openaclnn::OPENACLNN_TARGET::Sum;

constexpr float kMasked = -10000.0f;

/// z = mask ? -10000 : scale*x; e = exp(z - max z); y = e / sum e.
template <class T>
void RunRow(const Row& row) {
  const auto* const x = static_cast<const T*>(row.x);
  auto* const y = static_cast<T*>(row.y);
  // In whole lanes: beyond the row z is the least and e is 0.
  alignas(64) float e[kMaxWidth];
  const int64_t whole = (row.n + kLanes - 1) / kLanes * kLanes;
  const F32x16 scale = F32x16::Broadcast(row.scale);
  const F32x16 masked = F32x16::Broadcast(kMasked);
  F32x16 largest = F32x16::Broadcast(-__builtin_inff());
  ForLanes(row.n, [&](int64_t j, auto lanes) {
    const F32x16 z = lanes.Select(row.mask + j, scale * lanes.Load(x + j), masked);
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
  ForLanes(row.n, [&](int64_t j, auto lanes) {
    lanes.Store((F32x16::Load(e + j) / sum).template AsResult<T>(), y + j);
  });
}

}  // namespace

extern const Kernels kKernels = {RunRow<float>, RunRow<Float16>, RunRow<BFloat16>};

}  // namespace openaclnn::masked_softmax::forward::OPENACLNN_TARGET
