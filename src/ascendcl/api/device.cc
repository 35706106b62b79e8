// SPDX-License-Identifier: Apache-2.0
// Devices: aclrtSetDevice, aclrtResetDevice, aclrtGetDevice, aclrtGetDeviceCount and their kin.
#include "ascendcl/api/device.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "ascendcl/graph/capture.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/process/config.h"
#include "ascendcl/process/first_use.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"
#include "ascendcl/stream/host_wait.h"
#include "ascendcl/watch/race_watch.h"

namespace openaclnn {
namespace {

struct Device {
  void* primary = nullptr;  // context handle, null while no aclrtSetDevice is open
  uint64_t opened = 0;      // aclrtSetDevice calls less aclrtResetDevice calls
};

struct Devices {
  std::mutex mutex;  // guards what follows
  std::map<int32_t, Device> devices;
};

Devices& All() {
  static auto* devices = new Devices;
  return *devices;
}

Status Open(int32_t device_id, void** handle) {
  const FirstUse use;
  Devices& all = All();
  std::lock_guard lock(all.mutex);
  Device& device = all.devices[device_id];
  if (device.primary == nullptr) {
    Status status = Context::Create(static_cast<uint32_t>(device_id), true, &device.primary);
    if (!status.ok()) return status;
  }
  ++device.opened;
  *handle = device.primary;
  return {};
}

// Needs no memory, not for words either: the context's owner has let go of it.
void CloseContext(void* handle) {
  Pinned<HandleEntry<Context>> context;
  if (FindObject(RuntimeHandles(), handle, &context) != Found::kLive) return;
  context->object->Close();
  RuntimeHandles().Remove(Kind::kContext, handle);
}

Status CloseOnce(int32_t device_id) {
  const Uncancelled whole;  // half an end could not be repeated
  const FirstUse use;
  Devices& all = All();
  void* last = nullptr;
  std::optional<ContextWait> wait;  // until the context is closed
  {
    std::lock_guard lock(all.mutex);
    Device& device = all.devices[device_id];
    if (device.opened == 0) {
      return Status(ACL_ERROR_RT_CONTEXT_NULL,
                    Concat("deviceId value is ", device_id, ", expected a device that is set"));
    }
    if (device.opened == 1) {
      Status status = wait.emplace(device.primary).Refuse();
      if (!status.ok()) return status;
    }
    if (--device.opened == 0) last = std::exchange(device.primary, nullptr);
  }
  if (last != nullptr) CloseContext(last);
  return {};
}

/// Streams of all contexts of the device.
std::vector<std::shared_ptr<Stream>> StreamsOf(uint32_t device_id) {
  std::vector<void*> handles = CreatedContexts();
  {
    Devices& all = All();
    std::lock_guard lock(all.mutex);
    handles.insert(handles.begin(), all.devices[static_cast<int32_t>(device_id)].primary);
  }
  std::vector<std::shared_ptr<Stream>> streams;
  for (void* handle : handles) {
    std::shared_ptr<Context> context;
    if (!FindHandle("context", handle, &context).ok() || context->device_id() != device_id)
      continue;
    for (auto& stream : context->Streams()) streams.push_back(std::move(stream));
  }
  return streams;
}

Status RefuseCaptured(const std::vector<std::shared_ptr<Stream>>& streams) {
  Status status;
  for (size_t i = 0; i < streams.size() && status.ok(); ++i) {
    if (streams[i]->captured()) status = RefuseDeviceWait(*streams[i]);
  }
  return status;
}

Status Synchronize(const std::vector<std::shared_ptr<Stream>>& streams) {
  for (const auto& stream : streams) {
    Status status = HostWait(*stream, stream->submitted()).Refuse();
    if (!status.ok()) return status;
  }
  for (const auto& stream : streams) {
    Status status = Await(*stream, stream->submitted());
    if (!status.ok()) return status;
  }
  Status status = TakeFirstError(streams);
  Memory::Get().LookAtCanaries("aclrtSynchronizeDevice");
  return status;
}

}  // namespace

void CloseAllContexts() {
  const std::vector<void*> created = TakeCreatedContexts();
  std::map<int32_t, Device> devices;
  {
    Devices& all = All();
    std::lock_guard lock(all.mutex);
    devices.swap(all.devices);
  }
  const auto each = [&](void (*act)(void*)) {
    for (void* handle : created) act(handle);
    for (const auto& [id, device] : devices) act(device.primary);
  };
  each([](void* handle) {
    Pinned<HandleEntry<Context>> context;
    if (FindObject(RuntimeHandles(), handle, &context) != Found::kLive) return;
    context->object->EndSubscriptions();
  });
  each(CloseContext);
}

}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::CheckDeviceId;
using openaclnn::Config;
using openaclnn::Context;
using openaclnn::CurrentConfig;
using openaclnn::CurrentContext;
using openaclnn::ReleaseApi;
using openaclnn::RequireOut;
using openaclnn::Status;
using openaclnn::Stream;

aclError aclrtSetDevice(int32_t deviceId) {
  return Api("aclrtSetDevice", [&] {
    void* handle = nullptr;
    Status status = CheckDeviceId("deviceId", deviceId);
    if (status.ok()) status = openaclnn::Open(deviceId, &handle);
    if (status.ok()) openaclnn::SetCurrentContext(handle);
    return status;
  });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return ReleaseApi("aclrtResetDevice", [&] {
    Status status = CheckDeviceId("deviceId", deviceId);
    return status.ok() ? openaclnn::CloseOnce(deviceId) : status;
  });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return Api("aclrtGetDevice", [&] {
    std::shared_ptr<Context> context;
    Status status = RequireOut("deviceId", deviceId);
    if (status.ok()) status = CurrentContext(&context);
    if (status.ok()) *deviceId = static_cast<int32_t>(context->device_id());
    return status;
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return Api("aclrtGetDeviceCount", [&] {
    Config config;
    Status status = RequireOut("count", count);
    if (status.ok()) status = CurrentConfig(&config);
    if (status.ok()) *count = config.num_devices;
    return status;
  });
}

aclError aclrtSynchronizeDevice() {
  return Api("aclrtSynchronizeDevice", [&] {
    std::shared_ptr<Context> context;
    Status status = CurrentContext(&context);
    if (!status.ok()) return status;
    const auto streams = openaclnn::StreamsOf(context->device_id());
    status = openaclnn::RefuseCaptured(streams);
    return status.ok() ? openaclnn::Synchronize(streams) : status;
  });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return Api("aclrtSynchronizeDeviceWithTimeout", [&] {
    std::shared_ptr<Context> context;
    Stream::Deadline deadline;
    Status status = openaclnn::ParseTimeout(timeout, &deadline);
    if (status.ok()) status = CurrentContext(&context);
    if (!status.ok()) return status;
    const auto streams = openaclnn::StreamsOf(context->device_id());
    status = openaclnn::RefuseCaptured(streams);
    if (!status.ok()) return status;
    if (!deadline) return openaclnn::Synchronize(streams);
    for (const auto& stream : streams) {
      if (!stream->Wait(stream->submitted(), deadline)) {
        return openaclnn::TimeoutExpired("device", timeout);
      }
    }
    status = openaclnn::TakeFirstError(streams);
    openaclnn::Memory::Get().LookAtCanaries("aclrtSynchronizeDeviceWithTimeout");
    return status;
  });
}

const char* aclrtGetSocName() {
  const char* name = nullptr;
  Api("aclrtGetSocName", [&] {
    Config config;
    Status status = CurrentConfig(&config);
    if (status.ok()) name = config.product->name;
    return status;
  });
  return name;
}
