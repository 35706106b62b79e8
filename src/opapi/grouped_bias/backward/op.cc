// SPDX-License-Identifier: Apache-2.0
// The C entry points of GroupedBiasAddGrad and of its second version.
#include "grouped_bias/backward/op.h"

#include "aclnnop/aclnn_grouped_bias_add_grad.h"
#include "opapi/registry.h"

namespace openaclnn::grouped_bias::backward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};
constexpr Operation<Params, Plan> kOperationV2 = {kOperatorV2, CheckV2, MakePlan, Run};
const Registration kRegistration(kOperator);
const Registration kRegistrationV2(kOperatorV2);

}  // namespace
}  // namespace openaclnn::grouped_bias::backward

namespace room = openaclnn::grouped_bias::backward;

aclnnStatus aclnnGroupedBiasAddGradGetWorkspaceSize(const aclTensor* gradY,
                                                    const aclTensor* groupIdxOptional,
                                                    aclTensor* out, uint64_t* workspaceSize,
                                                    aclOpExecutor** executor) {
  return PlanOperation(
      room::kOperation,
      room::Params{
          {"gradY", gradY}, {"groupIdxOptional", groupIdxOptional}, room::kEnds, {"out", out}},
      workspaceSize, executor);
}

aclnnStatus aclnnGroupedBiasAddGrad(void* workspace, uint64_t workspaceSize,
                                    aclOpExecutor* executor, aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnGroupedBiasAddGradV2GetWorkspaceSize(const aclTensor* gradY,
                                                      const aclTensor* groupIdxOptional,
                                                      int64_t groupIdxType, aclTensor* out,
                                                      uint64_t* workspaceSize,
                                                      aclOpExecutor** executor) {
  return PlanOperation(
      room::kOperationV2,
      room::Params{
          {"gradY", gradY}, {"groupIdxOptional", groupIdxOptional}, groupIdxType, {"out", out}},
      workspaceSize, executor);
}

aclnnStatus aclnnGroupedBiasAddGradV2(void* workspace, uint64_t workspaceSize,
                                      aclOpExecutor* executor, aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperatorV2, workspace, workspaceSize, executor, stream);
}
