// SPDX-License-Identifier: Apache-2.0
// Convolution over tensors of time, batch and channels; that of other layouts by inclusion.
#ifndef OPENACLNN_ACLNNOP_ACLNN_CONVOLUTION_H_
#define OPENACLNN_ACLNNOP_ACLNN_CONVOLUTION_H_

#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_conv_nd.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out[t,b,o] = bias[o] + sum over k, c of self[t+k-pad,b,c] * weight[k,c,o]
 *                  where 0 <= t+k-pad < T_in
 *
 * Every tensor may be any strided view. An empty self or weight gives the bias.
 *
 * Products: 910 (without BFLOAT16), A2, A3, 950.
 *
 * Checks, in this order, after nulls and product:
 *
 * - data types, all as self;
 * - formats: ND or NCL, bias ND;
 * - ranks;
 * - self's channels == dimension 1 of weight, bias == dimension 2 of weight;
 * - pad >= 0, and on A2 and A3 L <= 255, pad <= 255, dimensions <= 2147483646;
 * - T_out >= 0, out's shape;
 * - cubeMathType.
 *
 * @param self (T_in, B, C_in); FLOAT, FLOAT16 or BFLOAT16.
 * @param weight (L, C_in, C_out).
 * @param bias (C_out).
 * @param pad steps of zeros on both ends of time.
 * @param[out] out (T_out, B, C_out), T_out = T_in + 2*pad + 1 - L.
 * @param cubeMathType rounding of the products' operands (to nearest, ties to even); sums are
 *     always float. 0 KEEP_DTYPE: none. 1 ALLOW_FP32_DOWN_PRECISION: FLOAT as HF32 (1 sign,
 * 8 exponent, 11 mantissa bits). 2 USE_FP16: FLOAT and BFLOAT16 as FLOAT16. 3 USE_HF32: FLOAT as
 *     HF32. On 910, FLOAT is computed as FLOAT16 under 1 and 2 and refused under 0 and 3.
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 a tensor, workspaceSize or executor is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a check above failed. Further: a view reaches outside its storage or overflows
 *     int64, an output's elements overlap each other, or an argument is not a live object.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnConvTbcGetWorkspaceSize(
    const aclTensor* self, const aclTensor* weight, const aclTensor* bias, const int64_t pad,
    aclTensor* out, int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor);

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
ACL_FUNC_VISIBILITY aclnnStatus aclnnConvTbc(void* workspace, const uint64_t workspaceSize,
                                             aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_CONVOLUTION_H_
