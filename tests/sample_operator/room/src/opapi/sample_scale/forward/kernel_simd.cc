// SPDX-License-Identifier: Apache-2.0
// One row of SampleScale, compiled once for each instruction set.
#include "kernels/lanes-inl.h"
#include "kernels/row-inl.h"
#include "sample_scale/forward/op.h"

namespace openaclnn::sample_scale::forward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;
using openaclnn::OPENACLNN_TARGET::RowLanes;

/// y = scale * x.
template <class T, bool kDense>
void RunRow(const Row& row) {
  const RowLanes<const T, kDense> x = {static_cast<const T*>(row.x), row.x_step};
  const RowLanes<T, kDense> y = {static_cast<T*>(row.y), row.y_step};
  const F32x16 scale = F32x16::Broadcast(row.scale);
  ForLanes(row.n, [&](int64_t j, auto lanes) { y.Store(scale * x.Load(j, lanes), j, lanes); });
}

}  // namespace

extern const KernelPair kKernels[kKernelTypes] = {
    {RunRow<float, false>, RunRow<float, true>},
    {RunRow<Float16, false>, RunRow<Float16, true>},
    {RunRow<BFloat16, false>, RunRow<BFloat16, true>}};

}  // namespace openaclnn::sample_scale::forward::OPENACLNN_TARGET
