// SPDX-License-Identifier: Apache-2.0
// The version of openaclnn itself, beside the version of the interface in acl/acl.h.
#ifndef OPENACLNN_VERSION_H_
#define OPENACLNN_VERSION_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the headers. @{ */
#define OPENACLNN_VERSION_MAJOR 0
#define OPENACLNN_VERSION_MINOR 2
#define OPENACLNN_VERSION_PATCH 0
#define OPENACLNN_VERSION_STRING "0.2.0"
/** @} */

/**
 * Tells the version of the loaded library, which may differ from that of the headers. May be called
 * at any time.
 *
 * @return a string like OPENACLNN_VERSION_STRING, valid for the life of the process.
 */
ACL_FUNC_VISIBILITY const char* openaclnnGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_VERSION_H_
