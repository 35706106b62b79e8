// SPDX-License-Identifier: Apache-2.0
// A tensor times a number.
#ifndef OPENACLNN_ACLNNOP_ACLNN_SAMPLE_SCALE_H_
#define OPENACLNN_ACLNNOP_ACLNN_SAMPLE_SCALE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     out = scale * self
 *
 * Products: 910 (where BFLOAT16 is not among the data types), A2, A3 and 950.
 *
 * @param self FLOAT, FLOAT16 or BFLOAT16, rank 1 to 8.
 * @param scale the factor; narrowed to float.
 * @param[out] out self's shape and type.
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 self, out, workspaceSize or executor is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a type, rank, shape or format is not as above, or a view reaches outside its
 *     storage.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnSampleScaleGetWorkspaceSize(const aclTensor* self,
                                                                 double scale, aclTensor* out,
                                                                 uint64_t* workspaceSize,
                                                                 aclOpExecutor** executor);

/**
 * Phase 2: queues the work on a stream.
 *
 * @param workspace device memory of at least workspaceSize bytes; may be NULL when phase 1 asked
 *     for 0.
 * @param workspaceSize bytes at workspace.
 * @param executor what phase 1 gave; spent by this call, unless it is repeatable.
 * @param stream the stream; NULL is the default one.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnSampleScale(void* workspace, uint64_t workspaceSize,
                                                 aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_SAMPLE_SCALE_H_
