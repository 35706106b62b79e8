// SPDX-License-Identifier: Apache-2.0
// Allocator: functions of the program that operators of a stream take their own memory from.
#pragma once

#include "acl/acl_rt.h"

namespace openaclnn {

/// Each may be null; a stream's has all but `allocate_near`.
struct Allocator {
  aclrtAllocatorDesc description = nullptr;
  aclrtAllocator object = nullptr;
  aclrtAllocatorAllocFunc allocate = nullptr;
  aclrtAllocatorFreeFunc free = nullptr;
  aclrtAllocatorAllocAdviseFunc allocate_near = nullptr;
  aclrtAllocatorGetAddrFromBlockFunc address = nullptr;
};

}  // namespace openaclnn
