// SPDX-License-Identifier: Apache-2.0
// Context: its streams, the handles that the program made, and the thread's current one.
#include "ascendcl/stream/context.h"

#include <algorithm>

#include "ascendcl/check/fault.h"
#include "ascendcl/process/config.h"
#include "ascendcl/process/first_use.h"
#include "ascendcl/process/fork.h"
#include "ascendcl/report/api_error.h"
#include "ascendcl/report/error.h"
#include "ascendcl/report/report.h"

namespace openaclnn {
namespace {

thread_local void* t_context = nullptr;

constinit ContextEnds g_ends{};  // set while the library is loaded

struct Created {
  std::mutex mutex;  // guards what follows
  std::vector<void*> handles;
};

Created& AllCreated() {
  static auto* created = new Created;
  return *created;
}

/// The next push_back needs no memory: what is to be listed then is not lost for want of a place.
template <class T>
void MakeRoom(std::vector<T>* list) {
  if (list->size() == list->capacity()) list->reserve(2 * list->size() + 1);
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
  if (config.check != CheckLevel::kOff) WatchFaults();  // aclInit may never be called
  std::shared_ptr<Context> context(new Context(device_id, primary, config.launch_blocking));
  void* inserted = InsertHandle(context);
  if (inserted == nullptr) return NoHandleLeft(kNoun);
  context->handle_ = inserted;
  try {
    context->default_stream_ =
        std::make_shared<Stream>(inserted, device_id, config.launch_blocking);
  } catch (...) {
    RuntimeHandles().Remove(kKind, inserted);
    throw;
  }
  NoteRuntimeEnded(false);
  *handle = inserted;
  return {};
}

Status Context::CreateStream(void** handle) {
  auto stream = std::make_shared<Stream>(handle_, device_id_, launch_blocking_);
  std::lock_guard lock(mutex_);
  if (closing_) {
    return Status(ACL_ERROR_RT_CONTEXT_NULL,
                  "context of this thread is being destroyed, expected one that lives");
  }
  MakeRoom(&streams_);
  void* inserted = InsertHandle(stream);
  if (inserted == nullptr) {
    return Status(ACL_ERROR_RT_NO_STREAM_RESOURCE, "no handle is left for a stream");
  }
  stream->set_handle(inserted);
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

std::shared_ptr<Stream> Context::StreamAt(size_t place) {
  std::lock_guard lock(mutex_);
  return place < streams_.size() ? streams_[place].second : nullptr;
}

size_t Context::NumStreams() {
  std::lock_guard lock(mutex_);
  return streams_.size();
}

// One by one, for a copy of the list would need memory; the last first, so that none is passed over
// when another thread destroys one.
void Context::ForEachStream(void (*act)(Stream&)) {
  act(*default_stream_);
  for (size_t i = NumStreams(); i-- > 0;) {
    if (const auto stream = StreamAt(i)) act(*stream);
  }
}

void Context::EndSubscriptions() {
  ForEachStream([](Stream& stream) { stream.EndSubscription(); });
}

void Context::Close() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  EndSubscriptions();  // of all before any wait: streams may wait for one another
  ForEachStream([](Stream& stream) {
    const HostWait wait(stream, stream.submitted());
    stream.Close();
    g_ends.of_stream(stream);  // whatever was seen: a capture may have begun meanwhile
    stream.LogError();
  });
  g_ends.of_context(handle_);
  std::lock_guard lock(mutex_);
  for (const auto& entry : streams_) RuntimeHandles().Remove(Kind::kStream, entry.first);
  streams_.clear();
}

int CallAtContextEnd(const ContextEnds& ends) {
  g_ends = ends;
  return 0;
}

Status CreateNotedContext(uint32_t device_id, void** handle) {
  const FirstUse use;
  Created& all = AllCreated();
  std::lock_guard lock(all.mutex);
  MakeRoom(&all.handles);
  Status status = Context::Create(device_id, false, handle);
  if (status.ok()) all.handles.push_back(*handle);
  return status;
}

void ForgetCreatedContext(const void* handle) {
  std::lock_guard lock(AllCreated().mutex);
  std::erase(AllCreated().handles, handle);
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

ContextWait::ContextWait(const void* handle) {
  std::shared_ptr<Context> context;
  if (!FindHandle("context", handle, &context).ok()) return;
  streams_ = context->Streams();
  for (const auto& stream : streams_) {
    waits_.emplace_back(*stream, stream->submitted(), HostWait::Ending{.context = handle});
  }
}

Status ContextWait::Refuse() const {
  for (const HostWait& wait : waits_) {
    Status status = wait.Refuse();
    if (!status.ok()) return status;
  }
  return {};
}

Status TakeFirstError(const std::vector<std::shared_ptr<Stream>>& streams) {
  TaskFinding found;
  for (const auto& stream : streams) {
    Status status = stream->TakeError(&found);
    if (!status.ok()) return status;
  }
  TellAgain(found);
  return {};
}

}  // namespace openaclnn
