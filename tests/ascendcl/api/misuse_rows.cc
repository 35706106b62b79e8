// SPDX-License-Identifier: Apache-2.0
// Misuse of functions that take no work: nulls, devices, contexts, events, allocations.
#include "tests/ascendcl/api/misuse.h"

namespace openaclnn {
namespace {

constexpr auto kPolicy = ACL_MEM_MALLOC_HUGE_FIRST;

}  // namespace

std::vector<Refusal> Misuse::Nulls() {
  const int code = ACL_ERROR_INVALID_PARAM;
  return {
      {"aclrtGetDevice", [] { return aclrtGetDevice(nullptr); }, code, "deviceId value is null"},
      {"aclrtGetDeviceCount", [] { return aclrtGetDeviceCount(nullptr); }, code, "count value"},
      {"aclrtGetRunMode", [] { return aclrtGetRunMode(nullptr); }, code, "runMode value is null"},
      {"aclrtGetVersion", [this] { return aclrtGetVersion(nullptr, &number, &number); }, code,
       "majorVersion value is null"},
      {"aclrtGetVersion", [this] { return aclrtGetVersion(&number, nullptr, &number); }, code,
       "minorVersion value is null"},
      {"aclrtGetVersion", [this] { return aclrtGetVersion(&number, &number, nullptr); }, code,
       "patchVersion value is null"},
      {"aclrtDeviceCanAccessPeer", [] { return aclrtDeviceCanAccessPeer(nullptr, 0, 1); }, code,
       "canAccessPeer value is null"},
      {"aclrtCreateContext", [] { return aclrtCreateContext(nullptr, 0); }, code, "context value"},
      {"aclrtGetCurrentContext", [] { return aclrtGetCurrentContext(nullptr); }, code, "context"},
      {"aclrtCreateStream", [] { return aclrtCreateStream(nullptr); }, code, "stream value is"},
      {"aclrtCreateStreamWithConfig", [] { return aclrtCreateStreamWithConfig(nullptr, 0, 0); },
       code, "stream value is null"},
      {"aclrtDestroyStream", [] { return aclrtDestroyStream(nullptr); }, code, "stream value is"},
      {"aclrtDestroyStreamForce", [] { return aclrtDestroyStreamForce(nullptr); }, code, "stream"},
      {"aclrtStreamQuery", [this] { return aclrtStreamQuery(stream, nullptr); }, code, "status"},
      {"aclrtGetStreamOverflowSwitch",
       [this] { return aclrtGetStreamOverflowSwitch(stream, nullptr); }, code, "flag value is"},
      {"aclrtCreateEvent", [] { return aclrtCreateEvent(nullptr); }, code, "event value is null"},
      {"aclrtCreateEventWithFlag", [] { return aclrtCreateEventWithFlag(nullptr, 1); }, code,
       "event value is null"},
      {"aclrtCreateEventExWithFlag", [] { return aclrtCreateEventExWithFlag(nullptr, 1); }, code,
       "event value is null"},
      {"aclrtDestroyEvent", [] { return aclrtDestroyEvent(nullptr); }, code, "event value is null"},
      {"aclrtQueryEvent", [this] { return aclrtQueryEvent(event, nullptr); }, code, "status value"},
      {"aclrtQueryEventStatus", [this] { return aclrtQueryEventStatus(event, nullptr); }, code,
       "status value is null"},
      {"aclrtQueryEventWaitStatus", [this] { return aclrtQueryEventWaitStatus(event, nullptr); },
       code, "status value is null"},
      {"aclrtQueryEventWaitStatus", [this] { return aclrtQueryEventWaitStatus(nullptr, &waited); },
       code, "event value is null"},
      {"aclrtEventElapsedTime", [this] { return aclrtEventElapsedTime(nullptr, event, event); },
       code, "ms value is null"},
      {"aclrtGetMemInfo", [this] { return aclrtGetMemInfo(ACL_DDR_MEM, nullptr, &size); }, code,
       "free value is null"},
      {"aclrtGetMemInfo", [this] { return aclrtGetMemInfo(ACL_DDR_MEM, &size, nullptr); }, code,
       "total value is null"},
      {"aclrtPointerGetAttributes", [this] { return aclrtPointerGetAttributes(host, nullptr); },
       code, "attributes value is null"},
  };
}

std::vector<Refusal> Misuse::Devices() {
  const int id = ACL_ERROR_RT_INVALID_DEVICEID, param = ACL_ERROR_RT_PARAM_INVALID;
  const int handle = ACL_ERROR_RT_INVALID_HANDLE;
  return {
      {"aclrtSetDevice", [] { return aclrtSetDevice(2); }, id, "deviceId value is 2, expected"},
      {"aclrtSetDevice", [] { return aclrtSetDevice(-1); }, id, "deviceId value is -1, expected"},
      {"aclrtResetDevice", [] { return aclrtResetDevice(2); }, id, "deviceId value is 2"},
      {"aclrtResetDevice", [] { return aclrtResetDevice(1); }, ACL_ERROR_RT_CONTEXT_NULL,
       "deviceId value is 1, expected a device that is set"},
      {"aclrtSynchronizeDeviceWithTimeout", [] { return aclrtSynchronizeDeviceWithTimeout(-2); },
       param, "timeout value is -2"},
      {"aclrtDeviceCanAccessPeer", [this] { return aclrtDeviceCanAccessPeer(&number, 2, 0); }, id,
       "deviceId value is 2"},
      {"aclrtDeviceCanAccessPeer", [this] { return aclrtDeviceCanAccessPeer(&number, 0, 2); }, id,
       "peerDeviceId value is 2"},
      {"aclrtDeviceEnablePeerAccess", [] { return aclrtDeviceEnablePeerAccess(2, 0); }, id,
       "peerDeviceId value is 2"},
      {"aclrtDeviceEnablePeerAccess", [] { return aclrtDeviceEnablePeerAccess(1, 3); }, param,
       "flags value is 3, expected 0"},
      {"aclrtDeviceEnablePeerAccess", [] { return aclrtDeviceEnablePeerAccess(0, 0); }, param,
       "peerDeviceId value is 0, expected another"},
      {"aclrtDeviceDisablePeerAccess", [] { return aclrtDeviceDisablePeerAccess(2); }, id,
       "peerDeviceId value is 2"},
      {"aclrtDeviceDisablePeerAccess", [] { return aclrtDeviceDisablePeerAccess(0); }, param,
       "peerDeviceId value is 0, expected another"},
      {"aclrtCreateContext", [this] { return aclrtCreateContext(&made, 2); }, id, "deviceId"},
      {"aclrtDestroyContext", [] { return aclrtDestroyContext(nullptr); }, handle, "is null"},
      {"aclrtDestroyContext", [this] { return aclrtDestroyContext(context); }, param,
       "context value is the device's default context"},
      {"aclrtSetCurrentContext", [] { return aclrtSetCurrentContext(nullptr); }, handle, "is null"},
      {"aclrtGetLastError", [] { return aclrtGetLastError(static_cast<aclrtLastErrLevel>(1)); },
       param, "level value is 1"},
      {"aclrtPeekAtLastError",
       [] { return aclrtPeekAtLastError(static_cast<aclrtLastErrLevel>(1)); }, param,
       "level value is 1"},
  };
}

std::vector<Refusal> Misuse::StreamsAndEvents() {
  const int param = ACL_ERROR_RT_PARAM_INVALID, handle = ACL_ERROR_RT_INVALID_HANDLE;
  return {
      {"aclrtSynchronizeStreamWithTimeout",
       [this] { return aclrtSynchronizeStreamWithTimeout(stream, -2); }, param, "timeout value is"},
      {"aclrtSetStreamFailureMode", [this] { return aclrtSetStreamFailureMode(stream, 2); }, param,
       "mode value is 2"},
      {"aclrtCreateEventWithFlag", [this] { return aclrtCreateEventWithFlag(&made, 0); }, param,
       "flag value is 0"},
      {"aclrtCreateEventWithFlag", [this] { return aclrtCreateEventWithFlag(&made, 0x101); }, param,
       "flag value is 257"},
      {"aclrtCreateEventExWithFlag", [this] { return aclrtCreateEventExWithFlag(&made, 0); }, param,
       "flag value is 0"},
      {"aclrtCreateEventExWithFlag", [this] { return aclrtCreateEventExWithFlag(&made, 4); }, param,
       "flag value is 4"},
      {"aclrtRecordEvent", [this] { return aclrtRecordEvent(nullptr, stream); }, handle, "null"},
      {"aclrtResetEvent", [this] { return aclrtResetEvent(nullptr, stream); }, handle, "null"},
      {"aclrtStreamWaitEvent", [this] { return aclrtStreamWaitEvent(stream, nullptr); }, handle,
       "event value is null"},
      {"aclrtSynchronizeEvent", [] { return aclrtSynchronizeEvent(nullptr); }, handle, "is null"},
      {"aclrtSynchronizeEventWithTimeout",
       [this] { return aclrtSynchronizeEventWithTimeout(event, -2); }, param, "timeout value is"},
      {"aclrtEventGetTimestamp", [this] { return aclrtEventGetTimestamp(event, &timestamp); },
       ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "event time is not kept"},
      {"aclrtQueryEvent", [this] { return aclrtQueryEvent(nullptr, &event_status); }, handle,
       "event value is null"},
      {"aclrtQueryEventStatus", [this] { return aclrtQueryEventStatus(nullptr, &recorded); },
       handle, "event value is null"},
  };
}

std::vector<Refusal> Misuse::Allocations() {
  const int null = ACL_ERROR_INVALID_PARAM, param = ACL_ERROR_RT_PARAM_INVALID;
  const int memory = ACL_ERROR_RT_MEMORY_ALLOCATION;
  const int unsupported = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  const size_t huge = SIZE_MAX / 2;
  const auto with = [this](aclrtMallocAttrType type, uint32_t value, bool given = true) {
    return [=, this] {
      aclrtMallocAttribute attribute = {type, {}};
      attribute.value.deviceId = value;
      aclrtMallocConfig config = {given ? &attribute : nullptr, 1};
      return aclrtMallocHostWithCfg(&made, 8, &config);
    };
  };
  return {
      {"aclrtMalloc", [] { return aclrtMalloc(nullptr, 1, kPolicy); }, null, "devPtr value is"},
      {"aclrtMalloc", [this] { return aclrtMalloc(&made, 0, kPolicy); }, null, "size value is 0"},
      {"aclrtMalloc", [&, huge] { return aclrtMalloc(&made, huge, kPolicy); }, memory, "size"},
      {"aclrtMalloc", [&] { return aclrtMalloc(&made, SIZE_MAX, kPolicy); }, memory, "size"},
      {"aclrtMallocAlign32", [] { return aclrtMallocAlign32(nullptr, 1, kPolicy); }, null,
       "devPtr value is null"},
      {"aclrtMallocAlign32", [this] { return aclrtMallocAlign32(&made, 0, kPolicy); }, null,
       "size value is 0"},
      {"aclrtMallocAlign32", [&, huge] { return aclrtMallocAlign32(&made, huge, kPolicy); }, memory,
       "size value is"},
      {"aclrtFree", [] { return aclrtFree(nullptr); }, null, "devPtr value is null"},
      {"aclrtFree", [this] { return aclrtFree(host); }, param, "start of a live device allocation"},
      {"aclrtFree", [this] { return aclrtFree(pinned); }, param, "devPtr value is"},
      {"aclrtFree", [this] { return aclrtFree(static_cast<char*>(device) + 1); }, param, "devPtr"},
      {"aclrtMallocHost", [] { return aclrtMallocHost(nullptr, 1); }, null, "hostPtr value is"},
      {"aclrtMallocHost", [this] { return aclrtMallocHost(&made, 0); }, null, "size value is 0"},
      {"aclrtMallocHost", [&, huge] { return aclrtMallocHost(&made, huge); }, memory, "size"},
      {"aclrtMallocHostWithCfg", [] { return aclrtMallocHostWithCfg(nullptr, 1, nullptr); }, null,
       "ptr value is null"},
      {"aclrtMallocHostWithCfg", [this] { return aclrtMallocHostWithCfg(&made, 0, nullptr); }, null,
       "size value is 0"},
      {"aclrtMallocHostWithCfg", with({}, 1, false), null, "attrs value is null"},
      {"aclrtMallocHostWithCfg", with(ACL_RT_MEM_ATTR_VA_FLAG, 1), unsupported,
       "vaFlag value is 1"},
      {"aclrtMallocHostWithCfg", with(ACL_RT_MEM_ATTR_DEVICE_ID, 2), ACL_ERROR_RT_INVALID_DEVICEID,
       "deviceId value is 2"},
      {"aclrtMallocHostWithCfg", with(static_cast<aclrtMallocAttrType>(4), 0), param,
       "attr value is 4"},
      {"aclrtFreeHost", [] { return aclrtFreeHost(nullptr); }, null, "hostPtr value is null"},
      {"aclrtFreeHost", [this] { return aclrtFreeHost(device); }, param, "pinned host allocation"},
      {"aclrtPointerGetAttributes",
       [this] { return aclrtPointerGetAttributes(nullptr, &attributes); }, param, "ptr value is"},
  };
}

}  // namespace openaclnn
