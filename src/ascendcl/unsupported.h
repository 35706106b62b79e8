// SPDX-License-Identifier: Apache-2.0
// Functions that a library exports because clients link them, and that only refuse.
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "ascendcl/interface.h"

namespace openaclnn {

/// Makes "<api>: … is not supported" the thread's recent error message; returns 207000.
inline int Unsupported(const char* api) noexcept {
  const OpenaclnnRuntime* runtime = openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE);
  if (runtime != nullptr) runtime->record_unsupported(api);
  return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

}  // namespace openaclnn

/// Defines an exported function that refuses whatever its arguments, which it does not look at.
#define UNSUPPORTED(name) \
  extern "C" ACL_FUNC_VISIBILITY int name() { return openaclnn::Unsupported(#name); }
/// As UNSUPPORTED, for a function that returns a number or a pointer and not a code: 0.
#define UNSUPPORTED_NOTHING(name)                  \
  extern "C" ACL_FUNC_VISIBILITY uint64_t name() { \
    (void)openaclnn::Unsupported(#name);           \
    return 0;                                      \
  }
