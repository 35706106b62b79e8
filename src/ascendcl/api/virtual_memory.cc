// SPDX-License-Identifier: Apache-2.0
// Virtual memory: addresses that the program reserves, and memory that it maps there.
#include "acl/acl.h"
#include "ascendcl/api/device.h"
#include "ascendcl/graph/capture.h"
#include "ascendcl/memory/address_range.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/process/handles.h"
#include "ascendcl/report/error.h"

namespace openaclnn {

namespace {

Status CheckSize(const char* operand, uint64_t size) {
  if (size == 0) {
    return Status(ACL_ERROR_INVALID_PARAM,
                  Concat(operand, " value is 0, expected a number of bytes"));
  }
  if (size % AddressRange::kGranularity == 0) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat(operand, " value is ", size, ", expected a multiple of 2 MiB"));
}

Status CheckZero(const char* operand, uint64_t value, uint64_t most = 0) {
  if (value <= most) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat(operand, " value is ", value, ", expected ", most == 0 ? "0" : "0 or 1"));
}

Status CheckProperties(const aclrtPhysicalMemProp& prop) {
  Status status = CheckZero("prop->handleType", prop.handleType);
  if (status.ok()) status = CheckZero("prop->allocationType", prop.allocationType);
  if (!status.ok()) return status;
  if (prop.location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat("prop->location type is ", static_cast<int>(prop.location.type),
                         ", expected ACL_MEM_LOCATION_TYPE_DEVICE (1)"));
  }
  return CheckDeviceId("prop->location.id", static_cast<int>(prop.location.id));
}

Status Map(const void* address, const std::shared_ptr<PhysicalMemory>& memory) {
  const std::byte* used = nullptr;
  Status status = Memory::Get().Map(address, memory, &used);
  const void* const graph = used != nullptr ? FindGraphOf(used, memory->bytes()) : nullptr;
  if (graph == nullptr) return status;
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat("virPtr range of ", memory->bytes(), " bytes is used by modelRI ", graph,
                       ", expected its aclmdlRIDestroy before"));
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::CheckSize;
using openaclnn::CheckZero;
using openaclnn::Memory;
using openaclnn::PhysicalMemory;
using openaclnn::ReleaseApi;
using openaclnn::RequireOut;
using openaclnn::Status;

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                uint64_t flags) {
  return Api("aclrtReserveMemAddress", [&] {
    Status status = RequireOut("virPtr", virPtr);
    if (status.ok() && size == 0) {
      status = Status(ACL_ERROR_INVALID_PARAM, "size value is 0, expected a number of bytes");
    }
    if (status.ok()) status = CheckZero("alignment", alignment);
    if (status.ok()) status = CheckZero("flags", flags, 1);
    if (status.ok() && expectPtr != nullptr) {
      status = Status(ACL_ERROR_RT_PARAM_INVALID, "expectPtr value is an address, expected null");
    }
    return status.ok() ? Memory::Get().Reserve(size, virPtr) : status;
  });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                          aclrtMemGranularityOptions option, size_t* granularity) {
  return Api("aclrtMemGetAllocationGranularity", [&] {
    Status status = RequireOut("prop", prop);
    if (status.ok()) status = RequireOut("granularity", granularity);
    if (status.ok()) status = openaclnn::CheckProperties(*prop);
    if (status.ok()) status = CheckZero("option", static_cast<uint64_t>(option), 1);
    if (status.ok()) *granularity = openaclnn::AddressRange::kGranularity;
    return status;
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return ReleaseApi("aclrtReleaseMemAddress", [&] {
    Status status = RequireOut("virPtr", virPtr);
    return status.ok() ? Memory::Get().Release(virPtr) : status;
  });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return Api("aclrtMallocPhysical", [&] {
    Status status = RequireOut("handle", handle);
    if (status.ok()) status = RequireOut("prop", prop);
    if (status.ok()) status = CheckSize("size", size);
    if (status.ok()) status = CheckZero("flags", flags);
    if (status.ok()) status = openaclnn::CheckProperties(*prop);
    std::shared_ptr<PhysicalMemory> memory;
    if (status.ok()) status = Memory::Get().MakePhysical(prop->location.id, size, &memory);
    if (!status.ok()) return status;
    void* made = openaclnn::InsertHandle(std::move(memory));
    if (made != nullptr) *handle = made;
    return made != nullptr ? Status()
                           : Status(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                                    "no handle is left, expected less physical memory");
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return ReleaseApi("aclrtFreePhysical",
                    [&] { return openaclnn::RemoveGiven<PhysicalMemory>("handle", handle); });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  return Api("aclrtMapMem", [&] {
    std::shared_ptr<PhysicalMemory> memory;
    Status status = openaclnn::FindGiven("handle", handle, &memory);
    if (status.ok()) status = RequireOut("virPtr", virPtr);
    if (status.ok()) status = CheckZero("offset", offset);
    if (status.ok()) status = CheckZero("flags", flags);
    if (status.ok() && size != memory->bytes()) {
      status = Status(ACL_ERROR_RT_PARAM_INVALID,
                      openaclnn::Concat("size value is ", size, ", expected that of handle, ",
                                        memory->bytes()));
    }
    return status.ok() ? openaclnn::Map(virPtr, memory) : status;
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return ReleaseApi("aclrtUnmapMem", [&] {
    Status status = RequireOut("virPtr", virPtr);
    return status.ok() ? Memory::Get().Unmap(virPtr) : status;
  });
}
