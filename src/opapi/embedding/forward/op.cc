// SPDX-License-Identifier: Apache-2.0
// The C entry points of Embedding.
#include "embedding/forward/op.h"

#include "aclnnop/aclnn_embedding.h"
#include "opapi/registry.h"

namespace openaclnn::embedding::forward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};
const Registration kRegistration(kOperator);

}  // namespace
}  // namespace openaclnn::embedding::forward

namespace room = openaclnn::embedding::forward;

aclnnStatus aclnnEmbeddingGetWorkspaceSize(const aclTensor* weight, const aclTensor* indices,
                                           const aclTensor* out, uint64_t* workspaceSize,
                                           aclOpExecutor** executor) {
  return PlanOperation(room::kOperation,
                       room::Params{{"weight", weight}, {"indices", indices}, {"out", out}},
                       workspaceSize, executor);
}

aclnnStatus aclnnEmbedding(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                           aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}
