// SPDX-License-Identifier: Apache-2.0
// NSA compression: weighted sums over sliding windows of tokens.
#ifndef OPENACLNN_ACLNNOP_ACLNN_NSA_COMPRESS_H_
#define OPENACLNN_ACLNNOP_ACLNN_NSA_COMPRESS_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     output[O_b+i,n,:] = sum over r < block of weight[r,n] * input[S_b+i*stride+r,n,:]
 *
 * Segments and windows are those of aclnnNsaCompressGradGetWorkspaceSize. Every tensor may be any
 * strided view, in a plain format.
 *
 * Products: A2. Checks: as in the gradient, but block >= stride is enough, and the list is
 * required.
 *
 * @param input (T, N, D); FLOAT16 or BFLOAT16.
 * @param weight (block, N); input's type.
 * @param actSeqLenOptional cumulative ends of the segments: not negative, not falling, last T.
 * @param layoutOptional "TND"; null leaves it out.
 * @param compressBlockSize tokens in a window.
 * @param compressStride tokens from a window to the next.
 * @param actSeqLenType 0.
 * @param[out] output (windows, N, D); input's type.
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 a tensor, workspaceSize or executor is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a check above failed, actSeqLenOptional null included. Further: a view reaches
 *     outside its storage or overflows int64, output's elements overlap each other, or an argument
 *     is not a live object.
 * @retval 561002 block, stride or D is not a multiple of 16.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnNsaCompressGetWorkspaceSize(
    const aclTensor* input, const aclTensor* weight, const aclIntArray* actSeqLenOptional,
    char* layoutOptional, int64_t compressBlockSize, int64_t compressStride, int64_t actSeqLenType,
    const aclTensor* output, uint64_t* workspaceSize, aclOpExecutor** executor);

/**
 * Phase 2: queues the work on a stream. Asynchronous, as aclnnEmbedding.
 *
 * @param workspace device memory of at least workspaceSize bytes.
 * @param workspaceSize bytes at workspace.
 * @param executor from phase 1; spent by this call, unless it is repeatable. A refused call
 *     leaves it as it was.
 * @param stream the stream; NULL is the default one.
 * @retval 161001 executor is null, workspace is null although phase 1 asked for some, or a tensor
 *     has a null address.
 * @retval 161002 workspaceSize is less than phase 1 asked for. Or a tensor's address is not device
 *     memory, or its allocation does not hold its view. Or an output shares memory with another
 *     tensor.
 * @retval 561000 executor is not an executor of this operator.
 * @retval 561103 executor was destroyed, or has run and is not repeatable.
 * @retval 107017 stream is not a live stream; 107003: it belongs to another context; 107002: the
 *     thread has no context.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnNsaCompress(void* workspace, uint64_t workspaceSize,
                                                 aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_NSA_COMPRESS_H_
