// SPDX-License-Identifier: Apache-2.0
// The C entry points of EmbeddingDenseBackward.
#include "embedding/backward/op.h"

#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "opapi/registry.h"

namespace openaclnn::embedding::backward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};
const Registration kRegistration(kOperator);

}  // namespace
}  // namespace openaclnn::embedding::backward

namespace room = openaclnn::embedding::backward;

aclnnStatus aclnnEmbeddingDenseBackwardGetWorkspaceSize(
    const aclTensor* grad, const aclTensor* indices, uint64_t numWeights, uint64_t paddingIdx,
    bool scaleGradByFreq, const aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return PlanOperation(room::kOperation,
                       room::Params{{"grad", grad},
                                    {"indices", indices},
                                    numWeights,
                                    paddingIdx,
                                    scaleGradByFreq,
                                    {"out", out}},
                       workspaceSize, executor);
}

aclnnStatus aclnnEmbeddingDenseBackward(void* workspace, uint64_t workspaceSize,
                                        aclOpExecutor* executor, const aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}
