// SPDX-License-Identifier: Apache-2.0
// The frozen decision of ScaledMaskedSoftmaxBackward: layouts and the row kernel.
#include "scaled_masked_softmax_backward/op.h"

namespace openaclnn::scaled_masked_softmax_backward {
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
  plan.row = RowKernel(p.gradOutput.dtype());
  plan.width = p.gradOutput.last_dim();
  plan.rows = p.gradOutput.empty() ? 0 : *p.gradOutput.count() / plan.width;
  plan.scale = static_cast<float>(p.scale);
  plan.dy = RowView(p.gradOutput);
  plan.y = RowView(p.y);
  plan.mask = RowView(p.mask, p.gradOutput);
  plan.dx = RowView(p.out);
  return plan;
}

}  // namespace openaclnn::scaled_masked_softmax_backward
