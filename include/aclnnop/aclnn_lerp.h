// SPDX-License-Identifier: Apache-2.0
// Lerp, InplaceLerp, Lerps, InplaceLerps. Made by scripts/generate_headers.py.
#ifndef OPENACLNN_ACLNNOP_ACLNN_LERP_H_
#define OPENACLNN_ACLNNOP_ACLNN_LERP_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out = self + weight * (end - self)
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnLerpGetWorkspaceSize(const aclTensor* self,
                                                          const aclTensor* end,
                                                          const aclTensor* weight, aclTensor* out,
                                                          uint64_t* workspaceSize,
                                                          aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnLerp(void* workspace, uint64_t workspaceSize,
                                          aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     selfRef = selfRef + weight * (end - selfRef)
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceLerpGetWorkspaceSize(aclTensor* selfRef,
                                                                 const aclTensor* end,
                                                                 const aclTensor* weight,
                                                                 uint64_t* workspaceSize,
                                                                 aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceLerp(void* workspace, uint64_t workspaceSize,
                                                 aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out = self + weight * (end - self)
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnLerpsGetWorkspaceSize(const aclTensor* self,
                                                           const aclTensor* end,
                                                           const aclScalar* weight, aclTensor* out,
                                                           uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnLerps(void* workspace, uint64_t workspaceSize,
                                           aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     selfRef = selfRef + weight * (end - selfRef)
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceLerpsGetWorkspaceSize(aclTensor* selfRef,
                                                                  const aclTensor* end,
                                                                  const aclScalar* weight,
                                                                  uint64_t* workspaceSize,
                                                                  aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceLerps(void* workspace, uint64_t workspaceSize,
                                                  aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_LERP_H_
