// SPDX-License-Identifier: Apache-2.0
// NLLLoss2d. Made by scripts/generate_headers.py.
#ifndef OPENACLNN_ACLNNOP_ACLNN_NLL_LOSS2D_H_
#define OPENACLNN_ACLNNOP_ACLNN_NLL_LOSS2D_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out = -weight[t] * self[n, t, h, w], t = target[n, h, w]; none (0), mean (1) or sum (2)
 *
 * Types, broadcasting, products and checks are those of all supporting operators: tensors are
 * strided views of numbers, operands meet in a common type, and the result is rounded once.
 *
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 an argument is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a type, shape, format or value is not allowed; the message says which.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnNLLLoss2dGetWorkspaceSize(
    const aclTensor* self, const aclTensor* target, const aclTensor* weight, int64_t reduction,
    int64_t ignoreIndex, aclTensor* out, aclTensor* totalWeightOut, uint64_t* workspaceSize,
    aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnNLLLoss2d(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_NLL_LOSS2D_H_
