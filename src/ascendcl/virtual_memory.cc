// SPDX-License-Identifier: Apache-2.0
// Virtual memory by files without names, mapped where kernels see them.
#include "ascendcl/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "ascendcl/device.h"
#include "ascendcl/error.h"
#include "ascendcl/handles.h"
#include "ascendcl/memory.h"

namespace openaclnn {

Status PhysicalMemory::Create(uint32_t device_id, uint64_t bytes,
                              std::shared_ptr<PhysicalMemory>* made) {
  Status status = Memory::Get().Count(device_id, bytes);
  if (!status.ok()) return status;
  const int descriptor = memfd_create("openaclnn", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    if (descriptor >= 0) close(descriptor);
    Memory::Get().Uncount(device_id, bytes);
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  Concat("size value is ", bytes, ", expected no more than this machine has"));
  }
  made->reset(new PhysicalMemory(device_id, bytes, descriptor));
  return {};
}

PhysicalMemory::~PhysicalMemory() {
  close(descriptor_);
  Memory::Get().Uncount(device_id_, bytes_);
}

Status AddressRange::Reserve(uint64_t bytes, bool host_access,
                             std::unique_ptr<AddressRange>* made) {
  const uint64_t ranges = host_access ? 1 : 2;
  void* mapping = MAP_FAILED;
  if (bytes <= UINT64_MAX / 4) {
    mapping = mmap(nullptr, ranges * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
  }
  if (mapping == MAP_FAILED) {
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION, Concat("size value is ", bytes,
                                                         ", expected no more than this process can "
                                                         "reserve"));
  }
  auto* device = static_cast<std::byte*>(mapping);
  made->reset(new AddressRange(Block{device, device + (ranges - 1) * bytes, bytes}));
  return {};
}

AddressRange::~AddressRange() {
  const uint64_t ranges = block_.host == block_.device ? 1 : 2;
  munmap(block_.device, ranges * block_.bytes);
}

bool AddressRange::Overlaps(const Pieces& pieces, uint64_t offset, uint64_t bytes) {
  auto next = pieces.lower_bound(offset + bytes);
  if (next == pieces.begin()) return false;
  const auto& [start, memory] = *std::prev(next);
  return start + memory->bytes() > offset;
}

bool AddressRange::Holds(uint64_t offset, uint64_t bytes) const {
  auto next = mapped_.upper_bound(offset);
  if (next == mapped_.begin()) return false;
  uint64_t end = std::prev(next)->first + std::prev(next)->second->bytes();
  if (end <= offset) return false;
  for (; end - offset < bytes && next != mapped_.end() && next->first == end; ++next) {
    end += next->second->bytes();
  }
  return end - offset >= bytes;
}

Status AddressRange::Map(uint64_t offset, std::shared_ptr<PhysicalMemory> memory) {
  const uint64_t bytes = memory->bytes();
  const char* obstacle = bytes > block_.bytes - offset       ? "is longer than reserved"
                         : Overlaps(mapped_, offset, bytes)  ? "holds memory already"
                         : Overlaps(leaving_, offset, bytes) ? "is used by queued tasks"
                         : mmap(block_.host + offset, bytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_FIXED, memory->descriptor(), 0) == MAP_FAILED
                             ? "cannot be mapped"
                             : nullptr;
  if (obstacle != nullptr) {
    return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("virPtr range of ", bytes, " bytes ", obstacle,
                                                     ", expected free reserved addresses"));
  }
  mapped_.emplace(offset, std::move(memory));
  return {};
}

Status AddressRange::Unmap(uint64_t offset) {
  const auto found = mapped_.find(offset);
  if (found == mapped_.end()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "virPtr value is no start of mapped memory, expected an address that was given "
                  "to aclrtMapMem");
  }
  leaving_.insert(mapped_.extract(found));
  return {};
}

std::vector<std::shared_ptr<PhysicalMemory>> AddressRange::Settle() {
  std::vector<std::shared_ptr<PhysicalMemory>> left;
  for (const auto& [offset, memory] : leaving_) {
    // A failure would leave the old memory readable, which nobody reads.
    (void)mmap(block_.host + offset, memory->bytes(), PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    left.push_back(memory);
  }
  leaving_.clear();
  return left;
}

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
    if (status.ok()) status = CheckSize("size", size);
    if (status.ok()) status = CheckZero("alignment", alignment);
    if (status.ok()) status = CheckZero("flags", flags, 1);
    if (status.ok() && expectPtr != nullptr) {
      status = Status(ACL_ERROR_RT_PARAM_INVALID, "expectPtr value is an address, expected null");
    }
    return status.ok() ? Memory::Get().Reserve(size, virPtr) : status;
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
    if (status.ok()) status = CheckZero("prop->handleType", prop->handleType);
    if (status.ok()) status = CheckZero("prop->allocationType", prop->allocationType);
    if (status.ok() && prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
      status =
          Status(ACL_ERROR_RT_PARAM_INVALID,
                 openaclnn::Concat("prop->location type is ", static_cast<int>(prop->location.type),
                                   ", expected ACL_MEM_LOCATION_TYPE_DEVICE (1)"));
    }
    if (status.ok()) {
      status = openaclnn::CheckDeviceId("prop->location.id", static_cast<int>(prop->location.id));
    }
    std::shared_ptr<PhysicalMemory> memory;
    if (status.ok()) status = PhysicalMemory::Create(prop->location.id, size, &memory);
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
    return status.ok() ? Memory::Get().Map(virPtr, std::move(memory)) : status;
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return ReleaseApi("aclrtUnmapMem", [&] {
    Status status = RequireOut("virPtr", virPtr);
    return status.ok() ? Memory::Get().Unmap(virPtr) : status;
  });
}
