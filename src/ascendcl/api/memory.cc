// SPDX-License-Identifier: Apache-2.0
// Memory: aclrtMalloc, aclrtFree, aclrtMallocHost and their kin.
#include "ascendcl/memory/memory.h"

#include "acl/acl.h"
#include "ascendcl/check/race_report.h"
#include "ascendcl/check/refusal.h"
#include "ascendcl/memory/host_memory.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"

namespace openaclnn {
namespace {

constexpr uint32_t kPageBytes = 4096;

Status CheckRequest(const char* operand, void** address, size_t size) {
  Status status = RequireOut(operand, address);
  if (!status.ok() || size > 0) return status;
  return Status(ACL_ERROR_INVALID_PARAM, "size value is 0, expected a number of bytes");
}

Status MallocDevice(const char* api, void** address, size_t size, bool padded) {
  std::shared_ptr<Context> context;
  Status status = CheckRequest("devPtr", address, size);
  if (status.ok()) status = CurrentContext(&context);
  if (!status.ok()) return status;
  NoteSize(size);
  return Memory::Get().Allocate(api, Location::kDevice, context->device_id(), size, padded,
                                address);
}

/// Tells the race watch of a free. Does nothing where the address is not a live allocation's.
void WatchFreeOf(const char* api, Location location, const char* operand, const void* address) {
  Place place;
  if (!Memory::Get().Find(address, &place) || place.begin != address) return;
  const bool live = place.freed_by == nullptr && !place.kernel && !place.reserved;
  if (live && place.location == location) WatchFree(api, operand, address, place.bytes);
}

Status Free(const char* api, Location location, const char* operand, const void* address) {
  Status status = RequireOut(operand, address);
  if (!status.ok()) return status;
  if (WatchingRaces()) WatchFreeOf(api, location, operand, address);
  status = Memory::Get().Free(location, operand, address);
  if (!status.ok()) ReportRefusal(Misuse::kFree, api, status, address, 1);
  return status;
}

Status CheckAttribute(const aclrtMallocAttribute& attribute) {
  const auto device = static_cast<int32_t>(attribute.value.deviceId);
  switch (attribute.attr) {
    case ACL_RT_MEM_ATTR_RSV:
    case ACL_RT_MEM_ATTR_MODULE_ID:
      return {};
    case ACL_RT_MEM_ATTR_DEVICE_ID:
      return CheckDeviceId("deviceId", device);
    case ACL_RT_MEM_ATTR_VA_FLAG:
      if (attribute.value.vaFlag == 0) return {};
      return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    Concat("vaFlag value is ", attribute.value.vaFlag,
                           ", expected 0: the device has addresses of its own"));
  }
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat("attr value is ", static_cast<int>(attribute.attr),
                       ", expected a value of aclrtMallocAttrType"));
}

Status CheckConfig(const aclrtMallocConfig* config) {
  if (config == nullptr || config->numAttrs == 0) return {};
  Status status = RequireOut("attrs", config->attrs);
  for (size_t i = 0; status.ok() && i < config->numAttrs; ++i) {
    status = CheckAttribute(config->attrs[i]);
  }
  return status;
}

Status MallocHost(const char* api, const char* operand, void** address, size_t size,
                  const aclrtMallocConfig* config) {
  Status status = CheckRequest(operand, address, size);
  if (status.ok()) status = CheckConfig(config);
  if (!status.ok()) return status;
  NoteSize(size);
  return Memory::Get().Allocate(api, Location::kPinnedHost, 0, size, false, address);
}

Status CheckRegistered(const void* ptr, uint64_t size, aclrtHostRegisterType type) {
  const auto refuse = [](auto&&... text) {
    return Status(ACL_ERROR_RT_PARAM_INVALID, Concat(text...));
  };
  if (type != ACL_HOST_REGISTER_MAPPED) {
    return refuse("type value is ", static_cast<int>(type),
                  ", expected ACL_HOST_REGISTER_MAPPED (0)");
  }
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  if (address % kPageBytes != 0) {
    return refuse("ptr value is ", ptr, ", expected a multiple of ", kPageBytes);
  }
  if (size == 0) return refuse("size value is 0, expected a number of bytes");
  if (!IsMapped(address, size)) {
    return refuse("ptr range of ", size, " bytes is not all memory of this process, expected that");
  }
  if (Memory::Get().HasDevice(ptr, size)) {
    return refuse("ptr value is device memory, expected the host's");
  }
  if (!IsReadable(address, size)) {
    return refuse("ptr range of ", size, " bytes is protected, expected memory that may be read");
  }
  return {};
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::Context;
using openaclnn::CurrentContext;
using openaclnn::Location;
using openaclnn::Memory;
using openaclnn::MemoryPin;
using openaclnn::ReleaseApi;
using openaclnn::RequireOut;
using openaclnn::Status;

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return Api("aclrtMalloc",
             [&] { return openaclnn::MallocDevice("aclrtMalloc", devPtr, size, true); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return Api("aclrtMallocAlign32",
             [&] { return openaclnn::MallocDevice("aclrtMallocAlign32", devPtr, size, false); });
}

aclError aclrtFree(void* devPtr) {
  return ReleaseApi("aclrtFree", [&] {
    return openaclnn::Free("aclrtFree", Location::kDevice, "devPtr", devPtr);
  });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return Api("aclrtMallocHost", [&] {
    return openaclnn::MallocHost("aclrtMallocHost", "hostPtr", hostPtr, size, nullptr);
  });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  return Api("aclrtMallocHostWithCfg", [&] {
    return openaclnn::MallocHost("aclrtMallocHostWithCfg", "ptr", ptr, size, cfg);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return ReleaseApi("aclrtFreeHost", [&] {
    return openaclnn::Free("aclrtFreeHost", Location::kPinnedHost, "hostPtr", hostPtr);
  });
}

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return Api("aclrtHostRegister", [&] {
    std::shared_ptr<Context> context;
    Status status = RequireOut("devPtr", devPtr);
    if (status.ok()) status = RequireOut("ptr", ptr);
    if (status.ok()) status = openaclnn::CheckRegistered(ptr, size, type);
    if (status.ok()) status = CurrentContext(&context);
    if (!status.ok()) return status;
    openaclnn::NoteSize(size);
    return Memory::Get().Register(context->device_id(), ptr, size, devPtr);
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return ReleaseApi("aclrtHostUnregister", [&] {
    Status status = RequireOut("ptr", ptr);
    return status.ok() ? Memory::Get().Unregister(ptr) : status;
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return Api("aclrtGetMemInfo", [&] {
    std::shared_ptr<Context> context;
    Status status = RequireOut("free", free);
    if (status.ok()) status = RequireOut("total", total);
    if (status.ok()) status = CurrentContext(&context);
    if (!status.ok()) return status;
    *free = *total = 0;
    // One pool stands for all kinds of memory; a number that names no kind has none.
    if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G) return status;
    Memory::Get().Info(context->device_id(), free, total);
    return status;
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return Api("aclrtPointerGetAttributes", [&] {
    Status status = RequireOut("attributes", attributes);
    if (!status.ok()) return status;
    if (ptr == nullptr) {
      return Status(ACL_ERROR_RT_PARAM_INVALID, "ptr value is null, expected an address");
    }
    *attributes = {};
    attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    MemoryPin pin;
    if (Memory::Get().Pin(ptr, 0, &pin) != Memory::Lookup::kPinned) return status;
    const bool device = pin.allocation()->location == Location::kDevice;
    attributes->location.id = device ? pin.allocation()->device_id : 0;
    attributes->location.type = device ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
    attributes->pageSize = openaclnn::kPageBytes;
    return status;
  });
}
