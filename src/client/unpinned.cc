// SPDX-License-Identifier: Apache-2.0
// The words of a refusal, by what libascendcl.so has found at the address.
#include "client/unpinned.h"

#include "common/text.h"

namespace openaclnn {

std::string WhyUnpinned(OpenaclnnPinResult found, std::string_view subject, const void* address,
                        uint64_t bytes) {
  switch (found) {
    case OPENACLNN_NOT_DEVICE_MEMORY:
      return Concat(subject, " is ", address,
                    ", which is not device memory, expected memory from aclrtMalloc");
    case OPENACLNN_NOT_ALLOCATED:
      return Concat(subject, " is ", address,
                    ", which is device memory that was freed or never mapped, expected memory that "
                    "is allocated");
    case OPENACLNN_PINNED:
    case OPENACLNN_OUT_OF_ALLOCATION:
      break;
  }
  return Concat(subject, " is ", bytes, " bytes from ", address,
                ", which leave their allocation, expected one that holds them");
}

}  // namespace openaclnn
