// SPDX-License-Identifier: Apache-2.0
// Names for the numbers that aclnn functions return.
#ifndef OPENACLNN_STATUS_H_
#define OPENACLNN_STATUS_H_

/**
 * Results of aclnn functions. aclnnStatus is an int32_t; these are its values. The device self
 * tests' numbers (574006 to 574009) are macros of acl/error_codes/rt_error_codes.h.
 */
typedef enum openaclnnStatus {
  ACLNN_SUCCESS = 0,

  /* The call is wrong. */
  ACLNN_ERR_PARAM_NULLPTR = 161001, /**< a required pointer is null */
  ACLNN_ERR_PARAM_INVALID = 161002, /**< a data type, shape, format, rank or value is not allowed */

  /* The runtime refused. */
  ACLNN_ERR_RUNTIME_ERROR = 361001, /**< a call of the runtime failed */

  /* The operator library itself. */
  ACLNN_ERR_INNER = 561000,                      /**< anything else; also an invalid executor */
  ACLNN_ERR_INNER_INFERSHAPE_ERROR = 561001,     /**< the output's shape is not known */
  ACLNN_ERR_INNER_TILING_ERROR = 561002,         /**< the work cannot be cut to fit the product */
  ACLNN_ERR_INNER_FIND_KERNEL_ERROR = 561003,    /**< the product does not have the operator */
  ACLNN_ERR_INNER_CREATE_EXECUTOR = 561101,      /**< an executor cannot be made */
  ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR = 561102,   /**< an executor was not handed to the caller */
  ACLNN_ERR_INNER_NULLPTR = 561103,              /**< executor is null, destroyed or spent */
  ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE = 561104, /**< sizes of attributes disagree */
  ACLNN_ERR_INNER_KEY_CONFLICT = 561105,         /**< two kernels have one key */
  ACLNN_ERR_INNER_KEY_CONFILICT = 561105,        /**< the same, as some programs spell it */
  ACLNN_ERR_INNER_INVALID_IMPL_MODE = 561106,    /**< no such implementation mode */

  /* Kernel packages; of these only OPP_KERNEL_PKG_NOT_FOUND is returned here. */
  ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND = 561107,
  ACLNN_ERR_INNER_LOAD_JSON_FAILED = 561108,
  ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND = 561109,
  ACLNN_ERR_INNER_JSON_FORMAT_INVALID = 561110,
  ACLNN_ERR_INNER_JSON_DTYPE_INVALID = 561111,
  ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND = 561112,
  ACLNN_ERR_INNER_OP_FILE_INVALID = 561113,
  ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND = 561114,
  ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH = 561115,
  ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE = 561116,
  ACLNN_ERR_INNER_INPUT_JSON_IS_NULL = 561117,
  ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID = 561118,
  ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID = 561119,
} openaclnnStatus;

#endif  // OPENACLNN_STATUS_H_
