// SPDX-License-Identifier: Apache-2.0
// FlashAttentionScoreGradV4. Made by scripts/generate_headers.py.
#ifndef OPENACLNN_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_GRAD_V4_H_
#define OPENACLNN_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_GRAD_V4_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     dq, dk, dv = gradients of FlashAttentionScoreV4
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnFlashAttentionScoreGradV4GetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value, const aclTensor* dy,
    const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclTensor* softmaxMaxOptional, const aclTensor* softmaxSumOptional,
    const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional,
    const aclTensor* sinkOptional, const aclTensor* queryRopeOptional,
    const aclTensor* keyRopeOptional, const aclTensor* dScaleQOptional,
    const aclTensor* dScaleKOptional, const aclTensor* dScaleVOptional,
    const aclTensor* dScaleDyOptional, const aclTensor* dScaleOOptional,
    const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional,
    const aclIntArray* actualSeqKvLenOptional, const aclIntArray* qStartIdxOptional,
    const aclIntArray* kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, char* softmaxInLayout,
    int64_t innerPrecise, int64_t sparseMode, int64_t pseType, int64_t seed, int64_t offset,
    int64_t outDtype, const aclTensor* dqOut, const aclTensor* dkOut, const aclTensor* dvOut,
    const aclTensor* dqRopeOut, const aclTensor* dkRopeOut, const aclTensor* dpseOut,
    const aclTensor* dsinkOut, uint64_t* workspaceSize, aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnFlashAttentionScoreGradV4(void* workspace,
                                                               uint64_t workspaceSize,
                                                               aclOpExecutor* executor,
                                                               aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_GRAD_V4_H_
