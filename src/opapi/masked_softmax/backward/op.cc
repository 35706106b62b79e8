// SPDX-License-Identifier: Apache-2.0
// The C entry points of ScaledMaskedSoftmaxBackward.
#include "masked_softmax/backward/op.h"

#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "opapi/registry.h"

namespace openaclnn::masked_softmax::backward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};

constexpr uint64_t kMayBeInput = uint64_t{1} << kGradOutput | uint64_t{1} << kY;
const Registration kRegistration(kOperator);

}  // namespace
}  // namespace openaclnn::masked_softmax::backward

namespace room = openaclnn::masked_softmax::backward;

aclnnStatus aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* y, const aclTensor* mask, double scale,
    bool fixTriuMask, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return PlanOperation(room::kOperation,
                       room::Params{{"gradOutput", gradOutput},
                                    {"y", y},
                                    {"mask", mask},
                                    scale,
                                    fixTriuMask,
                                    {"out", out, room::kMayBeInput}},
                       workspaceSize, executor);
}

aclnnStatus aclnnScaledMaskedSoftmaxBackward(void* workspace, uint64_t workspaceSize,
                                             aclOpExecutor* executor, aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}
