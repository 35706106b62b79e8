// SPDX-License-Identifier: Apache-2.0
// AmpUpdateScale. Made by scripts/generate_headers.py.
#ifndef OPENACLNN_ACLNNOP_ACLNN_AMP_UPDATE_SCALE_H_
#define OPENACLNN_ACLNNOP_ACLNN_AMP_UPDATE_SCALE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     the scale backs off when foundInf is not 0, and grows after growthInterval steps without
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnAmpUpdateScaleGetWorkspaceSize(
    const aclTensor* currentScale, const aclTensor* growthTracker, const aclTensor* foundInf,
    double growthFactor, double backoffFactor, int64_t growthInterval, aclTensor* updatedScale,
    aclTensor* updatedGrowthTracker, uint64_t* workspaceSize, aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnAmpUpdateScale(void* workspace, uint64_t workspaceSize,
                                                    aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_AMP_UPDATE_SCALE_H_
