// SPDX-License-Identifier: Apache-2.0
// The C entry points of ConvTbc.
#include "conv_tbc/forward/op.h"

#include "aclnnop/aclnn_convolution.h"
#include "opapi/registry.h"

namespace openaclnn::conv_tbc::forward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};
const Registration kRegistration(kOperator);

}  // namespace
}  // namespace openaclnn::conv_tbc::forward

namespace room = openaclnn::conv_tbc::forward;

aclnnStatus aclnnConvTbcGetWorkspaceSize(const aclTensor* self, const aclTensor* weight,
                                         const aclTensor* bias, const int64_t pad, aclTensor* out,
                                         int8_t cubeMathType, uint64_t* workspaceSize,
                                         aclOpExecutor** executor) {
  return PlanOperation(
      room::kOperation,
      room::Params{
          {"self", self}, {"weight", weight}, {"bias", bias}, pad, {"out", out}, cubeMathType},
      workspaceSize, executor);
}

aclnnStatus aclnnConvTbc(void* workspace, const uint64_t workspaceSize, aclOpExecutor* executor,
                         aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}
