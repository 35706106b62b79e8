// SPDX-License-Identifier: Apache-2.0
// The single-operator interface: an operator by its name, and the options of its compiler.
#ifndef OPENACLNN_ACL_ACL_OP_COMPILER_H_
#define OPENACLNN_ACL_ACL_OP_COMPILER_H_

#include "acl/acl_base.h"
#include "acl/acl_op.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether an operator has been registered before; not needed here. */
typedef enum aclCompileType OPENACLNN_ENUM_INT {
  ACL_COMPILE_SYS = 0,
  ACL_COMPILE_UNREGISTERED = 1,
} aclopCompileType;

/** Options of the compiler. */
typedef enum aclCompileOpt OPENACLNN_ENUM_INT {
  ACL_PRECISION_MODE = 0,
  ACL_AICORE_NUM = 1,
  ACL_AUTO_TUNE_MODE = 2,
  ACL_OP_SELECT_IMPL_MODE = 3,
  ACL_OPTYPELIST_FOR_IMPLMODE = 4,
  ACL_OP_DEBUG_LEVEL = 5,
  ACL_DEBUG_DIR = 6,
  ACL_OP_COMPILER_CACHE_MODE = 7,
  ACL_OP_COMPILER_CACHE_DIR = 8,
  ACL_OP_PERFORMANCE_MODE = 9,
  ACL_OP_JIT_COMPILE = 10,
  ACL_OP_DETERMINISTIC = 11,
  ACL_CUSTOMIZE_DTYPES = 12,
  ACL_OP_PRECISION_MODE = 13,
  ACL_ALLOW_HF32 = 14,
  ACL_PRECISION_MODE_V2 = 15,
  ACL_OP_DEBUG_OPTION = 16,
} aclCompileOpt;

/**
 * Queues an operator, by its name in graphs, on a stream. Asynchronous.
 *
 * Operators: ScaledMaskedSoftmax (inputs x, mask; output y) and ScaledMaskedSoftmaxGrad (inputs
 * y_grad, y, mask; output x_grad), with the attributes `scale` (float, 1.0) and `fixed_triu_mask`
 * (bool, false). They run and refuse as aclnnScaledMaskedSoftmax and
 * aclnnScaledMaskedSoftmaxBackward do. Tensors are dense.
 *
 * @param opType the operator's name.
 * @param numInputs how many inputs there are.
 * @param inputDesc their descriptions.
 * @param inputs their memory, on the device.
 * @param numOutputs how many outputs there are.
 * @param outputDesc their descriptions.
 * @param outputs their memory, on the device.
 * @param attr the attributes; NULL for none.
 * @param engineType not read.
 * @param compileFlag not read.
 * @param opPath not read.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_OP_NOT_FOUND there is no operator of that name here.
 * @retval ACL_ERROR_INVALID_PARAM opType, an array or one of its members is NULL.
 * @retval ACL_ERROR_OP_INPUT_NOT_MATCH, ACL_ERROR_OP_OUTPUT_NOT_MATCH the operator has another
 *     number of inputs or outputs, or a buffer is smaller than its tensor.
 * @retval ACL_ERROR_OP_ATTR_NOT_MATCH an attribute has another type.
 * @return otherwise the code of the operator's phase 1 or 2.
 */
ACL_FUNC_VISIBILITY aclError aclopCompileAndExecute(
    const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
    const aclDataBuffer* const inputs[], int numOutputs, const aclTensorDesc* const outputDesc[],
    aclDataBuffer* const outputs[], const aclopAttr* attr, aclopEngineType engineType,
    aclopCompileType compileFlag, const char* opPath, aclrtStream stream);

/**
 * Does the same for operators whose results decide the outputs' shapes. They would be written to
 * outputDesc; no operator here has such results.
 */
ACL_FUNC_VISIBILITY aclError
aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                         aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                         aclDataBuffer* outputs[], aclopAttr* attr, aclopEngineType engineType,
                         aclopCompileType compileFlag, const char* opPath, aclrtStream stream);

/**
 * Sets an option for the process. Options are kept and returned; the kernels here use none.
 *
 * @retval ACL_ERROR_INVALID_PARAM opt is not in the enumeration, or value is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclSetCompileopt(aclCompileOpt opt, const char* value);

/** Tells the bytes of an option's value, its end included; 0 for an unknown option. */
ACL_FUNC_VISIBILITY size_t aclGetCompileoptSize(aclCompileOpt opt);

/**
 * Copies the value of an option; if it was not set, its default, "disable" or "".
 *
 * @retval ACL_ERROR_INVALID_PARAM opt is not in the enumeration, value is NULL, or length is less
 *     than aclGetCompileoptSize returns.
 */
ACL_FUNC_VISIBILITY aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACL_ACL_OP_COMPILER_H_
