// SPDX-License-Identifier: Apache-2.0
// Context: aclrtCreateContext, aclrtDestroyContext, aclrtSetCurrentContext, aclrtGetCurrentContext.
#include "ascendcl/context.h"

#include <algorithm>

#include "ascendcl/config.h"
#include "ascendcl/error.h"
#include "ascendcl/fork.h"
#include "ascendcl/host_wait.h"

namespace openaclnn {
namespace {

thread_local void* t_context = nullptr;

struct Created {
  std::mutex mutex;  // guards what follows
  std::vector<void*> handles;
};

Created& AllCreated() {
  static auto* created = new Created;
  return *created;
}

Status NoHandleLeft(const char* noun) {
  return Status(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, Concat("no handle is left for a ", noun));
}

}  // namespace

Status Context::Create(uint32_t device_id, bool primary, void** handle) {
  Config config;
  Status status = CurrentConfig(&config);
  if (!status.ok()) return status;
  MarkUsed();
  status = Workers::Get().Start();
  if (!status.ok()) return status;
  std::shared_ptr<Context> context(new Context(device_id, primary, config.launch_blocking));
  *handle = InsertHandle(context);
  if (*handle == nullptr) return NoHandleLeft(kNoun);
  context->handle_ = *handle;
  context->default_stream_ = std::make_shared<Stream>(*handle, device_id, config.launch_blocking);
  return {};
}

Status Context::CreateStream(void** handle) {
  auto stream = std::make_shared<Stream>(handle_, device_id_, launch_blocking_);
  void* inserted = InsertHandle(stream);
  if (inserted == nullptr) {
    return Status(ACL_ERROR_RT_NO_STREAM_RESOURCE, "no handle is left for a stream");
  }
  std::lock_guard lock(mutex_);
  streams_.emplace_back(inserted, std::move(stream));
  *handle = inserted;
  return {};
}

Status Context::RemoveStream(const void* handle) {
  Status status = RemoveHandle<Stream>("stream", handle);
  if (!status.ok()) return status;
  std::lock_guard lock(mutex_);
  std::erase_if(streams_, [&](const auto& entry) { return entry.first == handle; });
  return {};
}

std::vector<std::shared_ptr<Stream>> Context::Streams() {
  std::vector<std::shared_ptr<Stream>> streams = {default_stream_};
  std::lock_guard lock(mutex_);
  for (const auto& entry : streams_) streams.push_back(entry.second);
  return streams;
}

void Context::EndSubscriptions() {
  for (const auto& stream : Streams()) stream->EndSubscription();
}

void Context::Close() {
  EndSubscriptions();  // of all before any wait: streams may wait for one another
  for (const auto& stream : Streams()) {
    const HostWait wait(*stream, stream->submitted());
    stream->Wait(stream->submitted(), {});
    stream->LogError();
  }
  std::lock_guard lock(mutex_);
  for (const auto& entry : streams_) RuntimeHandles().Remove(Kind::kStream, entry.first);
  streams_.clear();
}

std::vector<void*> CreatedContexts() {
  std::lock_guard lock(AllCreated().mutex);
  return AllCreated().handles;
}

std::vector<void*> TakeCreatedContexts() {
  std::lock_guard lock(AllCreated().mutex);
  return std::exchange(AllCreated().handles, {});
}

void SetCurrentContext(void* handle) { t_context = handle; }

namespace {

/// Pins the entry of the calling thread's context.
Status PinCurrentContext(Pinned<HandleEntry<Context>>* entry) {
  if (FindObject(RuntimeHandles(), t_context, entry) == Found::kLive) return {};
  return Status(ACL_ERROR_RT_CONTEXT_NULL,
                t_context == nullptr
                    ? "context is not set on this thread, expected aclrtSetDevice or "
                      "aclrtSetCurrentContext before"
                    : "context of this thread was destroyed, expected aclrtSetDevice or "
                      "aclrtSetCurrentContext since");
}

}  // namespace

Status CurrentContext(std::shared_ptr<Context>* context, void** handle) {
  Pinned<HandleEntry<Context>> entry;
  Status status = PinCurrentContext(&entry);
  if (!status.ok()) return status;
  *context = entry->object;
  if (handle != nullptr) *handle = t_context;
  return {};
}

Status FindStream(const void* handle, std::shared_ptr<Stream>* stream) {
  Pinned<HandleEntry<Context>> context;
  if (handle == nullptr) {
    Status status = PinCurrentContext(&context);
    if (status.ok()) {
      *stream = context->object->default_stream();
      if (Tracing()) (*stream)->trace_row().Note();
    }
    return status;
  }
  Status status = FindHandle("stream", handle, stream);
  if (!status.ok()) return status;
  if (Tracing()) (*stream)->trace_row().Note();
  status = PinCurrentContext(&context);
  if (status.ok() && (*stream)->context() != t_context) {
    status = Status(ACL_ERROR_RT_STREAM_CONTEXT,
                    "stream context is not the thread's, expected a stream of the current context");
  }
  return status;
}

Status RefuseContextOfHostCall(const void* handle) {
  std::shared_ptr<Context> context;
  if (!FindHandle("context", handle, &context).ok()) return {};
  for (const auto& stream : context->Streams()) {
    Status status = HostWait(*stream, stream->submitted(), {.context = handle}).Refuse();
    if (!status.ok()) return status;
  }
  return {};
}

Status TakeFirstError(const std::vector<std::shared_ptr<Stream>>& streams) {
  for (const auto& stream : streams) {
    Status status = stream->TakeError();
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::Context;
using openaclnn::FindHandle;
using openaclnn::ReleaseApi;
using openaclnn::RequireOut;
using openaclnn::Status;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return Api("aclrtCreateContext", [&] {
    Status status = RequireOut("context", context);
    if (status.ok()) status = openaclnn::CheckDeviceId("deviceId", deviceId);
    void* handle = nullptr;
    if (status.ok()) status = Context::Create(static_cast<uint32_t>(deviceId), false, &handle);
    if (!status.ok()) return status;
    {
      std::lock_guard lock(openaclnn::AllCreated().mutex);
      openaclnn::AllCreated().handles.push_back(handle);
    }
    openaclnn::SetCurrentContext(handle);
    *context = handle;
    return status;
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return ReleaseApi("aclrtDestroyContext", [&] {
    std::shared_ptr<Context> object;
    Status status = FindHandle("context", context, &object);
    if (!status.ok()) return status;
    if (object->primary()) {
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    "context value is the device's default context, expected one from "
                    "aclrtCreateContext (aclrtResetDevice ends the default one)");
    }
    status = openaclnn::RefuseContextOfHostCall(context);
    if (status.ok()) status = openaclnn::RemoveHandle<Context>("context", context);
    if (!status.ok()) return status;
    {
      std::lock_guard lock(openaclnn::AllCreated().mutex);
      std::erase(openaclnn::AllCreated().handles, context);
    }
    object->Close();
    return status;
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return Api("aclrtSetCurrentContext", [&] {
    std::shared_ptr<Context> object;
    Status status = FindHandle("context", context, &object);
    if (status.ok()) openaclnn::SetCurrentContext(context);
    return status;
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return Api("aclrtGetCurrentContext", [&] {
    std::shared_ptr<Context> object;
    Status status = RequireOut("context", context);
    if (status.ok()) status = openaclnn::CurrentContext(&object, context);
    return status;
  });
}
