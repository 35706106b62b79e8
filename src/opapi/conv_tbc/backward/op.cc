// SPDX-License-Identifier: Apache-2.0
// The C entry points of ConvTbcBackward.
#include "conv_tbc/backward/op.h"

#include "aclnnop/aclnn_convolution_backward.h"
#include "opapi/registry.h"

namespace openaclnn::conv_tbc::backward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};
const Registration kRegistration(kOperator);

}  // namespace
}  // namespace openaclnn::conv_tbc::backward

namespace room = openaclnn::conv_tbc::backward;

aclnnStatus aclnnConvTbcBackwardGetWorkspaceSize(const aclTensor* self, const aclTensor* input,
                                                 const aclTensor* weight, const aclTensor* bias,
                                                 int64_t pad, int8_t cubeMathType,
                                                 aclTensor* gradInput, aclTensor* gradWeight,
                                                 aclTensor* gradBias, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor) {
  return PlanOperation(room::kOperation,
                       room::Params{{"self", self},
                                    {"input", input},
                                    {"weight", weight},
                                    {"bias", bias, OPENACLNN_UNUSED},
                                    pad,
                                    cubeMathType,
                                    {"gradInput", gradInput},
                                    {"gradWeight", gradWeight},
                                    {"gradBias", gradBias}},
                       workspaceSize, executor);
}

aclnnStatus aclnnConvTbcBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}
