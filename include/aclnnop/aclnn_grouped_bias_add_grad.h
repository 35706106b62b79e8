// SPDX-License-Identifier: Apache-2.0
// The gradient of a bias that is added to groups of rows.
#ifndef OPENACLNN_ACLNNOP_ACLNN_GROUPED_BIAS_ADD_GRAD_H_
#define OPENACLNN_ACLNNOP_ACLNN_GROUPED_BIAS_ADD_GRAD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out[j,h] = sum over i with e_{j-1} <= i < e_j of gradY[i,h]
 *                with groupIdxOptional, e_{-1} = 0
 *     out[g,h] = sum over c of gradY[g,c,h]  without groupIdxOptional
 *
 * An end that equals the one before it, or a leading 0, is an empty group: a zero row. Every tensor
 * may be any strided view, in a plain format.
 *
 * Products: A2, A3 and 950.
 *
 * Checks, in this order, after nulls and product:
 *
 * - gradY's type, out's type, which is gradY's, groupIdxOptional's type;
 * - ranks;
 * - number of groups in a list;
 * - out's rank and shape;
 * - formats.
 *
 * An empty gradY gives zeros.
 *
 * @param gradY the gradient of the output, (R, H) with groupIdxOptional, else (G, C, H); FLOAT,
 *     FLOAT16, BFLOAT16.
 * @param groupIdxOptional where each group ends, (G), at most 2048; INT32 or INT64; null leaves it
 *     out: the first axis of gradY is then the group.
 * @param[out] out the gradient of the bias, (G, H); gradY's type.
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 gradY, out, workspaceSize or executor is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a check above failed. Further: a view reaches outside its storage or overflows
 *     int64, a dim is negative, out's elements overlap each other, or a tensor is not a live one.
 *
 * Ends must not fall, be negative or be above INT32_MAX, and the last one must be R. This is looked
 * at when the work runs, before anything is written. If it is not so, out keeps its bytes. The next
 * synchronise of the stream then returns 507035 with the position and the value.
 *
 * Differs from the vendor:
 *
 * - ends that break these rules are an error; the vendor ignores rows past the last end, and leaves
 *   the rest undefined;
 * - results are rounded to nearest, ties to even;
 * - if gradY is empty, out is written.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupedBiasAddGradGetWorkspaceSize(
    const aclTensor* gradY, const aclTensor* groupIdxOptional, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);

/**
 * Phase 2: queues the work on a stream. Asynchronous, as aclnnEmbedding.
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupedBiasAddGrad(void* workspace, uint64_t workspaceSize,
                                                        aclOpExecutor* executor,
                                                        aclrtStream stream);

/**
 * Phase 1 of the second version: as aclnnGroupedBiasAddGradGetWorkspaceSize, where groupIdxOptional
 * may hold ends or sizes.
 *
 * @param gradY as in the first version.
 * @param groupIdxOptional as in the first version, ends or sizes; null leaves it out.
 * @param groupIdxType 0: end positions; 1: sizes, none negative, with the sum R. Any other value is
 *     refused last: 161002.
 * @param[out] out as in the first version.
 * @param[out] workspaceSize as in the first version.
 * @param[out] executor as in the first version.
 * @retval 161001 as in the first version; 561003 and 161002 too.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupedBiasAddGradV2GetWorkspaceSize(
    const aclTensor* gradY, const aclTensor* groupIdxOptional, int64_t groupIdxType, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);

/**
 * Phase 2 of the second version: as aclnnGroupedBiasAddGrad.
 *
 * @param workspace device memory of at least workspaceSize bytes.
 * @param workspaceSize bytes at workspace.
 * @param executor from phase 1 of this version.
 * @param stream the stream; NULL is the default one.
 * @retval 161001 as in the first version, and the other codes too.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupedBiasAddGradV2(void* workspace, uint64_t workspaceSize,
                                                          aclOpExecutor* executor,
                                                          aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_GROUPED_BIAS_ADD_GRAD_H_
