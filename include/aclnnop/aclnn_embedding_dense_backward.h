// SPDX-License-Identifier: Apache-2.0
// The gradient of an embedding table: rows of grad are summed into the rows that indices name.
#ifndef OPENACLNN_ACLNNOP_ACLNN_EMBEDDING_DENSE_BACKWARD_H_
#define OPENACLNN_ACLNNOP_ACLNN_EMBEDDING_DENSE_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 * With grad flattened to (M, D), D its last dim, and indices to (M):
 *
 *     out[v,:] = (1/s_v) * sum over i with indices[i] = v, v != paddingIdx, of grad[i,:]
 *
 * s_v is 1, or with scaleGradByFreq the number of times that v occurs in indices (at least 1). Rows
 * that no index names, and row paddingIdx, are written as zeros. Sums are taken in FP32 or better
 * and rounded once; the same input gives the same bits, whatever the number of threads.
 *
 * Every tensor may be any strided view, in a plain format (ND, NCHW, NHWC, HWCN, NDHWC, NCDHW, NCL,
 * UNDEFINED).
 *
 * Products: 910 (where BFLOAT16 is not among the data types), A2, A3 and 950.
 *
 * Checks, in this order, after nulls and product:
 *
 * - data types, as listed at the parameters;
 * - rank of each tensor at most 8, grad's at least 1;
 * - as many indices as grad has rows: the product of indices' dims is that of grad's dims but the
 *   last, unless D is 0;
 * - out's shape is (numWeights, D);
 * - formats.
 *
 * grad and indices may be empty: out is filled with zeros then.
 *
 * @param grad gradient of the looked-up rows, (..., D); FLOAT, FLOAT16, BFLOAT16.
 * @param indices which row of the table each row of grad belongs to; FLOAT, FLOAT16, DOUBLE, INT32,
 *     INT64, INT16, INT8, UINT8, BOOL. Converted to an integer by cutting off the fraction.
 * @param numWeights rows of the table.
 * @param paddingIdx row that gets no gradient; a value of numWeights or more (also a negative one
 *     that was cast) means none.
 * @param scaleGradByFreq whether each row is divided by how often it occurs.
 * @param[out] out gradient of the table, (numWeights, D); a type of grad's list, not necessarily
 *     grad's.
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 grad, indices, out, workspaceSize or executor is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a check above failed. Further: a view reaches outside its storage or overflows
 *     int64, a dim is negative, out's elements overlap each other, or a tensor is not a live one.
 * @retval 561002 on 910 with scaleGradByFreq only, and not for empty tensors: D and numWeights are
 *     too large. The limit is 36*D + 4*c < 180192, or with INT64 indices 20*D + 8*c < 180192,
 *     where c = numWeights/cores + numWeights%cores and cores is the product's number of AI cores.
 *
 * An index that is not in [0, numWeights), or is NaN, is found when the work runs, before anything
 * is written. out keeps its bytes. The next synchronise of the stream returns 507035 with the
 * position and the value.
 *
 * Differs from the vendor:
 *
 * - a grad of rank 0 is refused;
 * - INT64 indices are compared in 64 bits;
 * - an index out of range is an error on every product;
 * - overlapping memory is refused.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnEmbeddingDenseBackwardGetWorkspaceSize(
    const aclTensor* grad, const aclTensor* indices, uint64_t numWeights, uint64_t paddingIdx,
    bool scaleGradByFreq, const aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);

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
ACL_FUNC_VISIBILITY aclnnStatus aclnnEmbeddingDenseBackward(void* workspace, uint64_t workspaceSize,
                                                            aclOpExecutor* executor,
                                                            const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_EMBEDDING_DENSE_BACKWARD_H_
