// SPDX-License-Identifier: Apache-2.0
// How many elements a weight takes that aclnnTransMatmulWeight transforms.
#ifndef OPENACLNN_ACLNNOP_ACLNN_CALCULATE_MATMUL_WEIGHT_SIZE_H_
#define OPENACLNN_ACLNNOP_ACLNN_CALCULATE_MATMUL_WEIGHT_SIZE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The elements to allocate for a weight of FLOAT16 or BFLOAT16: the product of tensorShape, of
 * which the last two dimensions are rounded up to multiples of 16. Here a transformed weight has
 * the elements of tensorShape alone.
 *
 * @param tensorShape two to six dimensions, each above 0: batches, n, k.
 * @param[out] weightTensorSize elements; written on success only.
 * @retval 161001 tensorShape or weightTensorSize is null.
 * @retval 161002 tensorShape is no live array, or has other dimensions, or the product overflows.
 * @note follows aclnnCalculateMatmulWeightSize, CANN 8.3.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray* tensorShape,
                                                               uint64_t* weightTensorSize);

/**
 * The same of FLOAT (which ggml asks for), FLOAT16, BFLOAT16 or INT8, whose last dimension is
 * rounded up to a multiple of 32.
 *
 * @param tensorShape as above.
 * @param dataType of the weight.
 * @param[out] weightTensorSize elements; written on success only.
 * @retval 161001 tensorShape or weightTensorSize is null.
 * @retval 161002 as above, or dataType is another.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape,
                                                                 aclDataType dataType,
                                                                 uint64_t* weightTensorSize);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_CALCULATE_MATMUL_WEIGHT_SIZE_H_
