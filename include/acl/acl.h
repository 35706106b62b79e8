// SPDX-License-Identifier: Apache-2.0
// Start and end of a program; this header includes the rest of the runtime.
#ifndef OPENACLNN_ACL_ACL_H_
#define OPENACLNN_ACL_ACL_H_

#include "acl/acl_base.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the interface that these headers describe. @{ */
#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 15
#define ACL_PATCH_VERSION 0
/** @} */

/** Sizes of the texts of a package's version and of its parts. @{ */
#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64
/** @} */

/** Packages of the toolkit. */
typedef enum aclCANNPackageName OPENACLNN_ENUM_INT {
  ACL_PKG_NAME_CANN = 0,
  ACL_PKG_NAME_RUNTIME = 1,
  ACL_PKG_NAME_COMPILER = 2,
  ACL_PKG_NAME_HCCL = 3,
  ACL_PKG_NAME_TOOLKIT = 4,
  ACL_PKG_NAME_OPP = 5,
  ACL_PKG_NAME_OPP_KERNEL = 6,
  ACL_PKG_NAME_DRIVER = 7,
} aclCANNPackageName;

/** A version, whole and in parts. */
typedef struct aclCANNPackageVersion {
  char version[ACL_PKG_VERSION_MAX_SIZE];              /**< "8.2.RC1" */
  char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];   /**< "8" */
  char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];   /**< "2" */
  char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE]; /**< "RC1" */
  char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];   /**< "" */
  char reserved[ACL_PKG_VERSION_MAX_SIZE];             /**< set to 0 */
} aclCANNPackageVersion;

/**
 * Starts the runtime. A program calls it first.
 *
 * Reads the environment: OPENACLNN_NUM_THREADS, OPENACLNN_SOC and the others that the documentation
 * lists. Calls are not counted: one aclFinalize ends the runtime.
 *
 * @param configPath path of a JSON file with settings, or NULL for none; "{}" is a file with none.
 * @retval ACL_ERROR_REPEAT_INITIALIZE the runtime is started already and stays so; programs may
 *     take this for success.
 * @retval ACL_ERROR_INVALID_FILE the file cannot be read.
 * @retval ACL_ERROR_PARSE_FILE the file is not JSON.
 * @retval ACL_ERROR_RT_SOC_VERSION an environment variable has a value that cannot be used, such as
 *     an OPENACLNN_SOC that names no known product; the message names the variable and what was
 *     expected.
 * @retval ACL_ERROR_UNINITIALIZE the process is a child of fork() and its parent used the runtime.
 */
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

/**
 * Ends the runtime: waits for queued work, also for aclrtValueWait, and frees all that is left.
 * aclInit may start it again.
 *
 * @retval ACL_ERROR_REPEAT_FINALIZE the runtime is not started.
 */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/**
 * Converts to FLOAT16, to nearest, ties to even. Overflow is infinity, NaN a quiet NaN.
 *
 * May be called from any thread, before initialisation too.
 *
 * @return the bits of the FLOAT16.
 */
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

/**
 * Converts a FLOAT16 to float, which is exact.
 *
 * May be called from any thread, before initialisation too.
 *
 * @param value the bits of the FLOAT16.
 */
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

/**
 * Tells the toolkit's release that this library acts as. May be called before aclInit.
 *
 * @param name the package. All packages have one release; there is no driver.
 * @param[out] version the release.
 * @retval ACL_ERROR_INVALID_PARAM version is null, or name is not in the enumeration.
 * @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT name is ACL_PKG_NAME_DRIVER.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name,
                                                  aclCANNPackageVersion* version);

/**
 * Does the same for a package by its name.
 *
 * @param pkgName "cann", "runtime", "compiler", "hccl", "toolkit", "opp" or "opp_kernel".
 * @param[out] versionStr room for ACL_PKG_VERSION_MAX_SIZE characters.
 * @retval ACL_ERROR_INVALID_PARAM an argument is null, or there is no such package.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char* pkgName, char* versionStr);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACL_ACL_H_
