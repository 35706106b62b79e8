// SPDX-License-Identifier: Apache-2.0
// The gradients of convolutions: over time, batch and channels; of other layouts by inclusion.
#ifndef OPENACLNN_ACLNNOP_ACLNN_CONVOLUTION_BACKWARD_H_
#define OPENACLNN_ACLNNOP_ACLNN_CONVOLUTION_BACKWARD_H_

#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_conv_nd_backward.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     gradInput[s,b,c]  = sum over k, o of self[s+pad-k,b,o] * weight[k,c,o]
 *                         where 0 <= s+pad-k < T_out
 *     gradWeight[k,c,o] = sum over t, b of input[t+k-pad,b,c] * self[t,b,o]
 *                         where 0 <= t+k-pad < T_in
 *     gradBias[o]       = sum over t, b of self[t,b,o]
 *
 * with T_out = T_in + 2*pad + 1 - L. Every tensor may be any strided view. If input or weight is
 * empty, gradInput and gradWeight are zero.
 *
 * Products: 910 (without BFLOAT16), A2, A3, 950.
 *
 * Checks, in this order, after nulls and product:
 *
 * - data types: input, weight and bias have that of self, the outputs those of input, weight and
 *   bias;
 * - formats: ND or NCL, bias and gradBias ND;
 * - self is not empty;
 * - ranks;
 * - input's channels == dimension 1 of weight, bias == dimension 2 of weight;
 * - pad >= 0, and on A2 and A3 L <= 255, pad <= 255, dimensions <= 2147483646;
 * - T_out >= 0, shapes of self and of the outputs;
 * - cubeMathType.
 *
 * @param self the gradient of the output, (T_out, B, C_out); FLOAT, FLOAT16 or BFLOAT16.
 * @param input (T_in, B, C_in).
 * @param weight (L, C_in, C_out).
 * @param bias (C_out); its values are not used.
 * @param pad steps of zeros on both ends of time.
 * @param cubeMathType rounding of the products' operands (to nearest, ties to even); sums are
 *     always float. 0 KEEP_DTYPE: none. 1 ALLOW_FP32_DOWN_PRECISION: FLOAT as HF32 (1 sign,
 * 8 exponent, 11 mantissa bits). 2 USE_FP16: FLOAT and BFLOAT16 as FLOAT16. 3 USE_HF32: FLOAT as
 *     HF32. On 910, FLOAT is computed as FLOAT16 under 1 and 2 and refused under 0 and 3.
 *     gradBias sums self as stored.
 * @param[out] gradInput (T_in, B, C_in).
 * @param[out] gradWeight (L, C_in, C_out).
 * @param[out] gradBias (C_out).
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 a tensor, workspaceSize or executor is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a check above failed. Further: a view reaches outside its storage or overflows
 *     int64, an output's elements overlap each other, or an argument is not a live object.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnConvTbcBackwardGetWorkspaceSize(
    const aclTensor* self, const aclTensor* input, const aclTensor* weight, const aclTensor* bias,
    int64_t pad, int8_t cubeMathType, aclTensor* gradInput, aclTensor* gradWeight,
    aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor);

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
ACL_FUNC_VISIBILITY aclnnStatus aclnnConvTbcBackward(void* workspace, uint64_t workspaceSize,
                                                     aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_CONVOLUTION_BACKWARD_H_
