// SPDX-License-Identifier: Apache-2.0
// The C entry points of ScaledMaskedSoftmax.
#include "masked_softmax/forward/op.h"

#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "opapi/registry.h"

namespace openaclnn::masked_softmax::forward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};
const Registration kRegistration(kOperator);

}  // namespace
}  // namespace openaclnn::masked_softmax::forward

namespace room = openaclnn::masked_softmax::forward;

aclnnStatus aclnnScaledMaskedSoftmaxGetWorkspaceSize(const aclTensor* x, const aclTensor* mask,
                                                     double scale, bool fixTriuMask, aclTensor* y,
                                                     uint64_t* workspaceSize,
                                                     aclOpExecutor** executor) {
  return PlanOperation(room::kOperation,
                       room::Params{{"x", x}, {"mask", mask}, scale, fixTriuMask, {"y", y}},
                       workspaceSize, executor);
}

aclnnStatus aclnnScaledMaskedSoftmax(void* workspace, uint64_t workspaceSize,
                                     aclOpExecutor* executor, aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}
