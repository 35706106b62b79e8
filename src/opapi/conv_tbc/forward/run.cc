// SPDX-License-Identifier: Apache-2.0
// The work of ConvTbc.
#include "conv_tbc/forward/op.h"

namespace openaclnn::conv_tbc::forward {

Status Run(const Plan& plan, const Buffers& buffers) {
  auto* const workspace = static_cast<std::byte*>(buffers.workspace);
  const void* x = plan.x.Take(buffers.data[kSelf], workspace + plan.x_at);
  const void* w = plan.w.Take(buffers.data[kWeight], workspace + plan.w_at);
  RunGemm(plan.gemm, x, w, buffers.data[kBias], buffers.data[kOut], workspace + plan.gemm_at);
  return {};
}

}  // namespace openaclnn::conv_tbc::forward
