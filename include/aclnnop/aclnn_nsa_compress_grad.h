// SPDX-License-Identifier: Apache-2.0
// The gradients of NSA compression: weighted sums over sliding windows of tokens.
#ifndef OPENACLNN_ACLNNOP_ACLNN_NSA_COMPRESS_GRAD_H_
#define OPENACLNN_ACLNNOP_ACLNN_NSA_COMPRESS_GRAD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 * The list cuts the T tokens into segments. Segment b starts at S_b, where the one before it ends.
 * It has n_b = (length - block) / stride + 1 windows, or none if it is shorter than block. The
 * windows of all segments are concatenated, and O_b is the first of segment b. With g = outputGrad:
 *
 *     inputGradOut[S_b+s,n,:] = sum over windows i in b with 0 <= s - i*stride < block of
 *                               weight[s - i*stride,n] * g[O_b+i,n,:]
 *     weightGradOut[r,n]      = sum over b, i, k of input[S_b+i*stride+r,n,k] * g[O_b+i,n,k]
 *
 * Tokens outside all windows get zero. Every tensor may be any strided view, in a plain format.
 *
 * Products: A2.
 *
 * Checks, in this order, after nulls and product:
 *
 * - data types, all as outputGrad;
 * - formats, layout, actSeqLenType;
 * - ranks, no empty tensor;
 * - stride > 0 and block > stride;
 * - weight's shape, the list, outputGrad's shape, shapes of the outputs;
 * - N <= 128, D <= 256, block <= 128;
 * - block, stride and D are multiples of 16 (561002).
 *
 * @param outputGrad the gradient of the output, (windows, N, D); FLOAT16 or BFLOAT16.
 * @param input (T, N, D).
 * @param weight (block, N).
 * @param actSeqLenOptionalOptional cumulative ends of the segments: not negative, not falling, the
 *     last T. NULL or empty: one segment.
 * @param compressBlockSize tokens in a window.
 * @param compressStride tokens from a window to the next.
 * @param actSeqLenType 0.
 * @param layoutOptionalOptional "TND"; null leaves it out.
 * @param[out] inputGradOut (T, N, D).
 * @param[out] weightGradOut (block, N).
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 a tensor, workspaceSize or executor is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a check above failed. Further: a view reaches outside its storage or overflows
 *     int64, an output's elements overlap each other, or an argument is not a live object.
 * @retval 561002 block, stride or D is not a multiple of 16.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnNsaCompressGradGetWorkspaceSize(
    const aclTensor* outputGrad, const aclTensor* input, const aclTensor* weight,
    const aclIntArray* actSeqLenOptionalOptional, int64_t compressBlockSize, int64_t compressStride,
    int64_t actSeqLenType, char* layoutOptionalOptional, const aclTensor* inputGradOut,
    const aclTensor* weightGradOut, uint64_t* workspaceSize, aclOpExecutor** executor);

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
ACL_FUNC_VISIBILITY aclnnStatus aclnnNsaCompressGrad(void* workspace, uint64_t workspaceSize,
                                                     aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_NSA_COMPRESS_GRAD_H_
