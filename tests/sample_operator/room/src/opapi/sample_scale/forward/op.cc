// SPDX-License-Identifier: Apache-2.0
// The C entry points of SampleScale.
#include "sample_scale/forward/op.h"

#include "aclnnop/aclnn_sample_scale.h"
#include "opapi/registry.h"

namespace openaclnn::sample_scale::forward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};
const Registration kRegistration(kOperator);

}  // namespace
}  // namespace openaclnn::sample_scale::forward

namespace room = openaclnn::sample_scale::forward;

aclnnStatus aclnnSampleScaleGetWorkspaceSize(const aclTensor* self, double scale, aclTensor* out,
                                             uint64_t* workspaceSize, aclOpExecutor** executor) {
  return PlanOperation(room::kOperation, room::Params{{"self", self}, scale, {"out", out}},
                       workspaceSize, executor);
}

aclnnStatus aclnnSampleScale(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                             aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}
