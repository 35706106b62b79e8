// SPDX-License-Identifier: Apache-2.0
// What libascendcl.so exports and does not do.
#include "ascendcl/unsupported.h"

#include "ascendcl/unsupported.inc"

extern "C" {

/// The number that stands for a name in a profile; 0 is none.
ACL_FUNC_VISIBILITY uint64_t MsprofGetHashId(const char*, size_t) {
  (void)openaclnn::Unsupported("MsprofGetHashId");
  return 0;
}

/// The device's clock; 0 is none.
ACL_FUNC_VISIBILITY uint64_t MsprofSysCycleTime() {
  (void)openaclnn::Unsupported("MsprofSysCycleTime");
  return 0;
}

}  // extern "C"
