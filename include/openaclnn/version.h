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
#define OPENACLNN_VERSION_MINOR 1
#define OPENACLNN_VERSION_PATCH 0
#define OPENACLNN_VERSION_STRING "0.1.0"
/** @} */

/**
 * Version of the library that is loaded, which may be another than that of the headers. May be
 * called at any time.
 *
 * @return a string like OPENACLNN_VERSION_STRING, valid for the life of the process.
 */
ACL_FUNC_VISIBILITY const char* openaclnnGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_VERSION_H_
