// SPDX-License-Identifier: Apache-2.0
// Ranges of memory that a call names: looked up in the table of allocations.
#include "ascendcl/check/device_range.h"

#include "acl/acl.h"
#include "ascendcl/check/refusal.h"
#include "ascendcl/process/handles.h"

namespace openaclnn {

Status Unresolved(Memory::Lookup found, const char* operand, const void* address, size_t bytes) {
  switch (found) {
    case Memory::Lookup::kUnknown:
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    Concat(operand, " range is ", bytes, " bytes from ", address,
                           ", where this process has no memory, expected live memory"));
    case Memory::Lookup::kFreed:
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    Concat(operand, " value is ", address,
                           ", which is not allocated now, expected live memory"));
    case Memory::Lookup::kFreedHost:
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    Concat(operand, " value is ", address,
                           ", which is pinned memory that was freed, expected live memory"));
    case Memory::Lookup::kPinned:
    case Memory::Lookup::kOutOfRange:
      break;
  }
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat(operand, " range is ", bytes, " bytes from ", address,
                       ", expected a range that stays in the allocation it starts in"));
}

Status PinDeviceRange(const char* api, const char* operand, const void* address, size_t bytes,
                      MemoryPin* pin) {
  Status status = RequireOut(operand, address);
  if (!status.ok()) return status;
  const Memory::Lookup found = Memory::Get().Pin(address, bytes, pin);
  if (found != Memory::Lookup::kPinned) {
    status = Unresolved(found, operand, address, bytes);
  } else if (pin->allocation()->location != Location::kDevice) {
    status = Status(ACL_ERROR_RT_PARAM_INVALID,
                    Concat(operand, " location is host memory, expected device memory"));
  }
  if (!status.ok()) ReportRefusal(Misuse::kOperand, api, status, address, bytes);
  return status;
}

}  // namespace openaclnn
