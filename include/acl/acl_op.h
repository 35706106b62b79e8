// SPDX-License-Identifier: Apache-2.0
// Attributes of the single-operator interface: named values for aclopCompileAndExecute.
#ifndef OPENACLNN_ACL_ACL_OP_H_
#define OPENACLNN_ACL_ACL_OP_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A set of named values. Opaque. */
typedef struct aclopAttr aclopAttr;

/** Which cores an operator runs on; a hint that is not needed here. */
typedef enum aclEngineType OPENACLNN_ENUM_INT {
  ACL_ENGINE_SYS = 0,
  ACL_ENGINE_AICORE = 1,
  ACL_ENGINE_VECTOR = 2,
} aclopEngineType;

/** Makes an empty set, to be ended with aclopDestroyAttr; NULL when memory is short. */
ACL_FUNC_VISIBILITY aclopAttr* aclopCreateAttr(void);

/** Ends a set. An argument that is not a live set is recorded as an error. */
ACL_FUNC_VISIBILITY void aclopDestroyAttr(const aclopAttr* attr);

/**
 * Stores a value under a name; it replaces an earlier one. Strings and lists are copied.
 *
 * @param attr the set.
 * @param attrName the name.
 * @param attrValue the value; a list has `numValues` (or `numLists`) of them.
 * @retval ACL_ERROR_INVALID_PARAM attr or attrName is NULL, a string is NULL, or a list has a
 *     negative length or no address.
 * @retval ACL_ERROR_RT_INVALID_HANDLE attr is not a live set.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName,
                                              uint8_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName,
                                             int64_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName,
                                               float attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrString(aclopAttr* attr, const char* attrName,
                                                const char* attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName,
                                                  aclDataType attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName,
                                                  int numValues, const uint8_t* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName,
                                                 int numValues, const int64_t* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName,
                                                   int numValues, const float* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName,
                                                     int numLists, const int* numValues,
                                                     const int64_t* const values[]);
/** @} */

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACL_ACL_OP_H_
