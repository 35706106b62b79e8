// SPDX-License-Identifier: Apache-2.0
// One row of SampleScale, compiled once for each instruction set.
#include "kernels/simd/lanes-inl.h"
#include "sample_scale/forward/op.h"

namespace openaclnn::sample_scale::forward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;

/// y = scale * x.
template <class T>
void RunRow(const Row& row) {
  const auto* const x = static_cast<const T*>(row.x);
  auto* const y = static_cast<T*>(row.y);
  const F32x16 scale = F32x16::Broadcast(row.scale);
  ForLanes(row.n, [&](int64_t j, auto lanes) {
    lanes.Store((scale * lanes.Load(x + j)).template AsResult<T>(), y + j);
  });
}

}  // namespace

extern const RowKernel kKernels[kKernelTypes] = {RunRow<float>, RunRow<Float16>, RunRow<BFloat16>};

}  // namespace openaclnn::sample_scale::forward::OPENACLNN_TARGET
