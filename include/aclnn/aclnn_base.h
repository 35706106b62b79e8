// SPDX-License-Identifier: Apache-2.0
// The start and the end of the operator library.
#ifndef OPENACLNN_ACLNN_ACLNN_BASE_H_
#define OPENACLNN_ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Starts the operator library. A program that has called aclInit need not call it. Both may be
 * called, in any order and more than once.
 *
 * @param configPath path of a JSON file with settings, or NULL for none; "{}" is a file with none.
 * @retval 161002 the file cannot be read or is not JSON.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);

/**
 * Undoes aclnnInit. If aclnnInit was not called, it does nothing. A runtime that aclInit started
 * goes on until aclFinalize.
 *
 * @return 0.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNN_ACLNN_BASE_H_
