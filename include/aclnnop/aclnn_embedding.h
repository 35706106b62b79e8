// SPDX-License-Identifier: Apache-2.0
// A look-up in an embedding table: rows of weight that indices name.
#ifndef OPENACLNN_ACLNNOP_ACLNN_EMBEDDING_H_
#define OPENACLNN_ACLNNOP_ACLNN_EMBEDDING_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out[i,:] = weight[indices[i],:]        for every position i of indices
 *
 * Elements are copied bit for bit.
 *
 * Every tensor may be any strided view, in a plain format (ND, NCHW, NHWC, HWCN, NDHWC, NCDHW, NCL,
 * UNDEFINED).
 *
 * Products: 910 (where BFLOAT16 is not among the data types), A2, A3 and 950.
 *
 * Checks, in this order, after nulls and product:
 *
 * - data types, as listed at the parameters;
 * - rank of weight 2, of the others at most 8;
 * - out's shape is indices' shape followed by D;
 * - formats.
 *
 * Empty tensors are allowed.
 *
 * @param weight the table, (N, D); any type whose elements have 1, 2, 4 or 8 bytes.
 * @param indices which row to look up at each position; FLOAT, FLOAT16, DOUBLE, INT32, INT64,
 *     INT16, INT8, UINT8, BOOL. Converted to an integer by cutting off the fraction.
 * @param[out] out the rows, (indices' shape, D); weight's type.
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 weight, indices, out, workspaceSize or executor is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a check above failed. Further: a view reaches outside its storage or overflows
 *     int64, a dim is negative, out's elements overlap each other, or a tensor is not a live one.
 *
 * An index that is not in [0, N), or is NaN, is found when the work runs, before anything is
 * written. out keeps its bytes. The next synchronise of the stream returns 507035 with the position
 * and the value.
 *
 * Differs from the vendor: an index out of range is an error on every product; overlapping memory
 * is refused.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnEmbeddingGetWorkspaceSize(const aclTensor* weight,
                                                               const aclTensor* indices,
                                                               const aclTensor* out,
                                                               uint64_t* workspaceSize,
                                                               aclOpExecutor** executor);

/**
 * Phase 2: queues the work on a stream.
 *
 * Asynchronous: returns when the work is queued, so that the tensors may be destroyed and phase 1
 * of the next call may begin. Memory of the tensors and the workspace must stay as it is until the
 * work is done; freeing it earlier takes effect then.
 *
 * @param workspace device memory of at least workspaceSize bytes; may be NULL when phase 1 asked
 *     for 0.
 * @param workspaceSize bytes at workspace.
 * @param executor from phase 1; spent by this call, unless it is repeatable. A refused call
 *     leaves it as it was.
 * @param stream the stream; NULL is the default one.
 * @retval 161001 executor is null, workspace is null although phase 1 asked for some, or a tensor
 *     with elements has a null address.
 * @retval 161002 workspaceSize is less than phase 1 asked for. Or a tensor's address is not device
 *     memory, or its allocation does not hold its view. Or out shares memory with an input.
 * @retval 561000 executor is not an executor of this operator.
 * @retval 561103 executor was destroyed, or has run and is not repeatable.
 * @retval 107017 stream is not a live stream; 107003: it belongs to another context; 107002: the
 *     thread has no context.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnEmbedding(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_EMBEDDING_H_
