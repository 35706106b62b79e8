// SPDX-License-Identifier: Apache-2.0
// aclDumpOpTensors, which is refused.
#include "acl/error_codes/rt_error_codes.h"
#include "aclnn/acl_meta.h"
#include "ascendcl/report/error.h"

aclnnStatus aclDumpOpTensors(const char* opType, const char*, aclTensor**, size_t, size_t,
                             aclrtStream) {
  return openaclnn::Api("aclDumpOpTensors", [&] {
    return openaclnn::Status(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        openaclnn::Concat("dump of opType ", openaclnn::Quoted{opType != nullptr ? opType : ""},
                          " is not supported, expected aclrtMemcpy of the tensors instead"));
  });
}
