// SPDX-License-Identifier: Apache-2.0
// Div, InplaceDiv, DivMod, InplaceDivMod, Divs, InplaceDivs, DivMods, InplaceDivMods. Made by
// scripts/generate_headers.py.
#ifndef OPENACLNN_ACLNNOP_ACLNN_DIV_H_
#define OPENACLNN_ACLNNOP_ACLNN_DIV_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out = self / other
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnDivGetWorkspaceSize(const aclTensor* self,
                                                         const aclTensor* other, aclTensor* out,
                                                         uint64_t* workspaceSize,
                                                         aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnDiv(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     selfRef = selfRef / other
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceDivGetWorkspaceSize(aclTensor* selfRef,
                                                                const aclTensor* other,
                                                                uint64_t* workspaceSize,
                                                                aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceDiv(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out = self / other; mode: 0 exact, 1 toward 0, 2 down
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnDivModGetWorkspaceSize(const aclTensor* self,
                                                            const aclTensor* other, int mode,
                                                            aclTensor* out, uint64_t* workspaceSize,
                                                            aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnDivMod(void* workspace, uint64_t workspaceSize,
                                            aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     selfRef = selfRef / other; mode: 0 exact, 1 toward 0, 2 down
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceDivModGetWorkspaceSize(aclTensor* selfRef,
                                                                   const aclTensor* other, int mode,
                                                                   uint64_t* workspaceSize,
                                                                   aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceDivMod(void* workspace, uint64_t workspaceSize,
                                                   aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out = self / other
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnDivsGetWorkspaceSize(const aclTensor* self,
                                                          const aclScalar* other, aclTensor* out,
                                                          uint64_t* workspaceSize,
                                                          aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnDivs(void* workspace, uint64_t workspaceSize,
                                          aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     selfRef = selfRef / other
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceDivsGetWorkspaceSize(aclTensor* selfRef,
                                                                 const aclScalar* other,
                                                                 uint64_t* workspaceSize,
                                                                 aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceDivs(void* workspace, uint64_t workspaceSize,
                                                 aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out = self / other; mode: 0 exact, 1 toward 0, 2 down
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnDivModsGetWorkspaceSize(const aclTensor* self,
                                                             const aclScalar* other, int mode,
                                                             aclTensor* out,
                                                             uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnDivMods(void* workspace, uint64_t workspaceSize,
                                             aclOpExecutor* executor, aclrtStream stream);

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     selfRef = selfRef / other; mode: 0 exact, 1 toward 0, 2 down
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceDivModsGetWorkspaceSize(aclTensor* selfRef,
                                                                    const aclScalar* other,
                                                                    int mode,
                                                                    uint64_t* workspaceSize,
                                                                    aclOpExecutor** executor);

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceDivMods(void* workspace, uint64_t workspaceSize,
                                                    aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_DIV_H_
