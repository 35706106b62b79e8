// SPDX-License-Identifier: Apache-2.0
// Dumps of operators' tensors, of which this project has none, and nothing else of offline models.
#ifndef OPENACLNN_ACL_ACL_MDL_H_
#define OPENACLNN_ACL_ACL_MDL_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Begins, configures and ends a dump of operators' tensors.
 *
 * @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT always: nothing is dumped.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char* dumpCfgPath);
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);
/** @} */

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACL_ACL_MDL_H_
