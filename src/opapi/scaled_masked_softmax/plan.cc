// SPDX-License-Identifier: Apache-2.0
// The frozen decision of ScaledMaskedSoftmax: layouts and the row kernel.
#include "scaled_masked_softmax/op.h"

namespace openaclnn::scaled_masked_softmax {
namespace {

auto RowKernel(int32_t dtype) {
  const Kernels* kernels = OPENACLNN_TARGET_SELECT(kKernels);
  return dtype == ACL_FLOAT     ? kernels->float32
         : dtype == ACL_FLOAT16 ? kernels->float16
                                : kernels->bfloat16;
}

}  // namespace

Plan MakePlan(const Params& p) {
  Plan plan = {};
  plan.row = RowKernel(p.x.dtype());
  plan.width = p.x.last_dim();
  plan.rows = p.x.empty() ? 0 : *p.x.count() / plan.width;
  plan.scale = static_cast<float>(p.scale);
  plan.x = RowView(p.x);
  plan.mask = RowView(p.mask, p.x);
  plan.y = RowView(p.y);
  return plan;
}

}  // namespace openaclnn::scaled_masked_softmax
