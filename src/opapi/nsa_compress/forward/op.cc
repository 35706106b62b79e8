// SPDX-License-Identifier: Apache-2.0
// The C entry points of NsaCompress.
#include "nsa_compress/forward/op.h"

#include "aclnnop/aclnn_nsa_compress.h"
#include "opapi/registry.h"

namespace openaclnn::nsa_compress::forward {
namespace {

constexpr Operation<Params, Plan> kOperation = {kOperator, Check, MakePlan, Run};
const Registration kRegistration(kOperator);

}  // namespace
}  // namespace openaclnn::nsa_compress::forward

namespace room = openaclnn::nsa_compress::forward;

aclnnStatus aclnnNsaCompressGetWorkspaceSize(const aclTensor* input, const aclTensor* weight,
                                             const aclIntArray* actSeqLenOptional,
                                             char* layoutOptional, int64_t compressBlockSize,
                                             int64_t compressStride, int64_t actSeqLenType,
                                             const aclTensor* output, uint64_t* workspaceSize,
                                             aclOpExecutor** executor) {
  return PlanOperation(room::kOperation,
                       room::Params{{"input", input},
                                    {"weight", weight},
                                    {"actSeqLenOptional", actSeqLenOptional},
                                    layoutOptional,
                                    compressBlockSize,
                                    compressStride,
                                    actSeqLenType,
                                    {"output", output}},
                       workspaceSize, executor);
}

aclnnStatus aclnnNsaCompress(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                             aclrtStream stream) {
  return openaclnn::RunOperation(room::kOperator, workspace, workspaceSize, executor, stream);
}
