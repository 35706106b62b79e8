// SPDX-License-Identifier: Apache-2.0
// The C entry points of NsaCompressGrad.
#include "nsa_compress/backward/op.h"

#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "opapi/registry.h"

namespace openaclnn::nsa_compress::backward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};
const Registration kRegistration(kOperator);

}  // namespace
}  // namespace openaclnn::nsa_compress::backward

namespace room = openaclnn::nsa_compress::backward;

aclnnStatus aclnnNsaCompressGradGetWorkspaceSize(
    const aclTensor* outputGrad, const aclTensor* input, const aclTensor* weight,
    const aclIntArray* actSeqLenOptionalOptional, int64_t compressBlockSize, int64_t compressStride,
    int64_t actSeqLenType, char* layoutOptionalOptional, const aclTensor* inputGradOut,
    const aclTensor* weightGradOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return PlanOperation(room::kOperation,
                       room::Params{{"outputGrad", outputGrad},
                                    {"input", input},
                                    {"weight", weight},
                                    {"actSeqLenOptionalOptional", actSeqLenOptionalOptional},
                                    compressBlockSize,
                                    compressStride,
                                    actSeqLenType,
                                    layoutOptionalOptional,
                                    {"inputGradOut", inputGradOut},
                                    {"weightGradOut", weightGradOut}},
                       workspaceSize, executor);
}

aclnnStatus aclnnNsaCompressGrad(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}
