// SPDX-License-Identifier: Apache-2.0
// Names of a failure: for a function of HCCL, and for the stream that an operation failed on.
#pragma once

#include <cstdint>
#include <utility>

#include "acl/acl_base.h"
#include "ascendcl/report/error.h"
#include "hccl/engine/progress.h"
#include "hccl/hccl_types.h"
#include "hccl/plan/data_type.h"

namespace openaclnn {

/// The runtime's code for the error of an operation that had begun.
inline int StreamCode(int result) {
  switch (result) {
    case HCCL_E_REMOTE:
      return ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
    case HCCL_E_TIMEOUT:
      return ACL_ERROR_RT_TASK_TIMEOUT;
    case HCCL_E_PARA:
      return ACL_ERROR_RT_PARAM_INVALID;
    default:
      return ACL_ERROR_RT_LINK_ERROR;
  }
}

/// The result for a code of the runtime: that of ForkedError or of Guard.
inline HcclResult ResultOf(int code) {
  constexpr int kForked = 100001, kOutOfMemory = 200000;
  if (code == kForked) return HCCL_E_NOT_SUPPORT;
  return code == kOutOfMemory ? HCCL_E_MEMORY : HCCL_E_INTERNAL;
}

/// Body of an exported function; codes that are no HcclResult become one.
template <class Body>
HcclResult HcclApi(const char* api, Body&& body) {
  const int code = Api(api, [&] {
    // The runtime knows no fork of a process that has not used it yet.
    Status status = MessageMover::StayedBehind() ? Guard(ForkedError) : Guard(body);
    if (ResultName(status.code()) != nullptr) return status;
    return Status(ResultOf(status.code()), status.text());
  });
  // In a child of fork it is the runtime's.
  return ResultName(code) != nullptr ? static_cast<HcclResult>(code) : HCCL_E_NOT_SUPPORT;
}

inline Status RequirePointer(const char* operand, const void* pointer) {
  if (pointer != nullptr) return {};
  return Status(HCCL_E_PTR, Concat(operand, " value is null, expected an address"));
}

}  // namespace openaclnn
