// SPDX-License-Identifier: Apache-2.0
// How many elements a weight takes that aclnnTransMatmulWeight transforms.
#ifndef OPENACLNN_ACLNNOP_ACLNN_CALCULATE_MATMUL_WEIGHT_SIZE_H_
#define OPENACLNN_ACLNNOP_ACLNN_CALCULATE_MATMUL_WEIGHT_SIZE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Tells how many elements to allocate for a weight of FLOAT16 or BFLOAT16: the product of
 * tensorShape, with its last two dimensions rounded up to multiples of 16. Here a transformed
 * weight has only the elements of tensorShape.
 *
 * @param tensorShape two to six dimensions, each above 0: batches, n, k.
 * @param[out] weightTensorSize elements; written on success only.
 * @retval 161001 tensorShape or weightTensorSize is null.
 * @retval 161002 tensorShape is not live or has other dimensions, or the product overflows.
 * @note follows aclnnCalculateMatmulWeightSize, CANN 8.3.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray* tensorShape,
                                                               uint64_t* weightTensorSize);

/**
 * Does the same for FLOAT (which ggml uses), FLOAT16, BFLOAT16 and INT8. The last dimension of INT8
 * is rounded up to a multiple of 32.
 *
 * @param tensorShape as above.
 * @param dataType type of the weight.
 * @param[out] weightTensorSize elements; written on success only.
 * @retval 161001 tensorShape or weightTensorSize is null.
 * @retval 161002 as above, or dataType is another type.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape,
                                                                 aclDataType dataType,
                                                                 uint64_t* weightTensorSize);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_CALCULATE_MATMUL_WEIGHT_SIZE_H_
