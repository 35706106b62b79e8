// SPDX-License-Identifier: Apache-2.0
// The work of ConvTbc.
#include "conv_tbc/forward/op.h"

namespace openaclnn::conv_tbc::forward {

Status Run(const Plan& plan, const Buffers& buffers) {
  RunGemm(plan.gemm, buffers.data[kSelf], buffers.data[kWeight], buffers.data[kBias],
          buffers.data[kOut], buffers.workspace);
  return {};
}

}  // namespace openaclnn::conv_tbc::forward
