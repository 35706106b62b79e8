// SPDX-License-Identifier: Apache-2.0
// The frozen decision of ScaledMaskedSoftmax: layouts and the row kernel.
#include "masked_softmax/forward/op.h"

namespace openaclnn::scaled_masked_softmax {
namespace {

auto RowKernel(bool dense, int32_t dtype) {
  const Kernels* kernels =
      dense ? OPENACLNN_TARGET_SELECT(kDenseKernels) : OPENACLNN_TARGET_SELECT(kStridedKernels);
  return dtype == ACL_FLOAT     ? kernels->float32
         : dtype == ACL_FLOAT16 ? kernels->float16
                                : kernels->bfloat16;
}

}  // namespace

Plan MakePlan(const Params& p, const Product&) {
  Plan plan = {};
  plan.width = p.x.last_dim();
  plan.rows = p.x.empty() ? 0 : *p.x.count() / plan.width;
  plan.scale = static_cast<float>(p.scale);
  plan.x = RowView(p.x);
  plan.mask = RowView(p.mask, p.x);
  plan.y = RowView(p.y);
  const bool dense = plan.x.step == 1 && plan.mask.step == 1 && plan.y.step == 1;
  plan.row = RowKernel(dense, p.x.dtype());
  return plan;
}

}  // namespace openaclnn::scaled_masked_softmax
