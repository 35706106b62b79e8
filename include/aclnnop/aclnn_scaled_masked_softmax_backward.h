// SPDX-License-Identifier: Apache-2.0
// The gradient of a scaled, masked softmax over the last dimension.
#ifndef OPENACLNN_ACLNNOP_ACLNN_SCALED_MASKED_SOFTMAX_BACKWARD_H_
#define OPENACLNN_ACLNNOP_ACLNN_SCALED_MASKED_SOFTMAX_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     t   = g*y - y * sum over the last axis of g*y  where g = gradOutput
 *     out = mask ? 0 : scale * t
 *
 * The sum runs over every column, masked ones too. scale is narrowed to float and applied before
 * the mask. The mask selects: a NaN in a masked place becomes 0, while a NaN anywhere in a row
 * makes the row's sum NaN. y need not be a softmax.
 *
 * Every tensor may be any strided view, in a plain format. out may be the very view that gradOutput
 * or y is.
 *
 * Products: A2, A3 and 950.
 *
 * Checks, in this order, after nulls and product:
 *
 * - data types, formats;
 * - rank 4, S2 from 0 to 4096 (8192 on 950);
 * - y, then out, as gradOutput in shape and type;
 * - mask's rank and shape;
 * - fixTriuMask.
 *
 * Empty tensors are allowed; nothing is written.
 *
 * @param gradOutput the gradient of the forward's output, (B, N, S1, S2); FLOAT, FLOAT16, BFLOAT16.
 * @param y the forward's output; shape and type of gradOutput.
 * @param mask where the gradient is 0, (B or 1, N or 1, S1, S2); BOOL. Any byte but 0 is true and
 *     masks.
 * @param scale the forward's factor.
 * @param fixTriuMask must be false.
 * @param[out] out the gradient of the forward's input; shape and type of gradOutput.
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 gradOutput, y, mask, out, workspaceSize or executor is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a check above failed. Further: a view reaches outside its storage or overflows
 *     int64, a dim is negative, out's elements overlap each other, or a tensor is not a live one.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* y, const aclTensor* mask, double scale,
    bool fixTriuMask, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);

/**
 * Phase 2: queues the work on a stream. Asynchronous, as aclnnEmbedding.
 *
 * @param workspace device memory of at least workspaceSize bytes; may be NULL when phase 1 asked
 *     for 0.
 * @param workspaceSize bytes at workspace.
 * @param executor from phase 1; spent by this call, unless it is repeatable. A refused call
 *     leaves it as it was.
 * @param stream the stream; NULL is the default one.
 * @retval 161001 executor is null, or a tensor with elements has a null address.
 * @retval 161002 a tensor's address is not device memory, or its allocation does not hold its view;
 *     or out shares memory with an input and is not the same view.
 * @retval 561000 executor is not an executor of this operator.
 * @retval 561103 executor was destroyed, or has run and is not repeatable.
 * @retval 107017 stream is not a live stream; 107003: it belongs to another context; 107002: the
 *     thread has no context.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnScaledMaskedSoftmaxBackward(void* workspace,
                                                                 uint64_t workspaceSize,
                                                                 aclOpExecutor* executor,
                                                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_SCALED_MASKED_SOFTMAX_BACKWARD_H_
