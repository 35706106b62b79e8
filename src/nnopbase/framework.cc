// SPDX-License-Identifier: Apache-2.0
// Symbols without a header that framework adapters look up by name through libopapi.so.
//
// They steer two things that the vendor's library has and this one does not need: a thread's pool
// of "huge memory" for temporary objects, and a cache of executors keyed by a hash of the
// arguments. Without a pool there is nothing to set up or give back; without a cache every look-up
// misses, which sends the adapters down their ordinary two-phase path.
#include <cstddef>
#include <cstdint>

#include "aclnn/acl_meta.h"
#include "ascendcl/report/error.h"
#include "openaclnn/status.h"

extern "C" {

/// The pool of the thread: none. 0 is success.
ACL_FUNC_VISIBILITY int InitHugeMemThreadLocal(void*, bool) { return 0; }
ACL_FUNC_VISIBILITY void UnInitHugeMemThreadLocal(void*, bool) {}
ACL_FUNC_VISIBILITY void ReleaseHugeMem(void*, bool) {}

/// Whether calls of an operator may be cached: never, so that nothing below is asked for in
/// earnest.
ACL_FUNC_VISIBILITY bool CanUsePTACache(const char*) { return false; }
ACL_FUNC_VISIBILITY void InitPTACacheThreadLocal() {}
ACL_FUNC_VISIBILITY void UnInitPTACacheThreadLocal() {}
ACL_FUNC_VISIBILITY void ResetCacheThreadLocal() {}
ACL_FUNC_VISIBILITY void SetPTAHashKey(uint64_t) {}
ACL_FUNC_VISIBILITY void SetPTACacheHashKey(uint8_t*, size_t) {}
ACL_FUNC_VISIBILITY void AddTensorAddrToCachedList(void*) {}

/// The executor of a cached call: always a miss. *workspaceSize stays as it was.
ACL_FUNC_VISIBILITY aclOpExecutor* PTAGetExecCache(uint64_t, uint64_t*) { return nullptr; }
ACL_FUNC_VISIBILITY aclOpExecutor* PTAFindExecCache(uint8_t*, size_t, uint64_t*) { return nullptr; }

/// Switches to kernels compiled ahead for fixed shapes. The operators here are not loaded from
/// kernel packages: 561112.
ACL_FUNC_VISIBILITY aclnnStatus aclnnReselectStaticKernel() {
  return openaclnn::Api("aclnnReselectStaticKernel", [] {
    return openaclnn::Status(ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND,
                             "kernel package is not used here, expected none: operators are part "
                             "of libopapi.so");
  });
}
ACL_FUNC_VISIBILITY aclnnStatus aclnnReselectStaticKernelWithPath(const char* path) {
  return openaclnn::Api("aclnnReselectStaticKernelWithPath", [&] {
    if (path == nullptr) {
      return openaclnn::Status(ACLNN_ERR_PARAM_NULLPTR, "path value is null, expected a path");
    }
    return openaclnn::Status(ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND,
                             openaclnn::Concat("path value is ", openaclnn::Quoted{path},
                                               ", expected none: operators are part of "
                                               "libopapi.so, not of kernel packages"));
  });
}

}  // extern "C"
