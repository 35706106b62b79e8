// SPDX-License-Identifier: Apache-2.0
// Event: create, record, wait, query, elapsed time, reset.
#include "ascendcl/event.h"

#include <algorithm>

#include "ascendcl/context.h"
#include "ascendcl/error.h"

namespace openaclnn {
namespace {

class RecordTask : public Task {
 public:
  RecordTask(std::shared_ptr<Event> event, uint64_t record)
      : event_(std::move(event)), record_(record) {}
  Progress Run(Status*) override {
    event_->Complete(record_);
    return Progress::kDone;
  }
  const char* name() const override { return "record event"; }
  bool skipped_after_error() const override { return false; }
  void Drop() override { event_->Complete(record_); }

 private:
  std::shared_ptr<Event> event_;
  uint64_t record_;
};

class ResetTask : public Task {
 public:
  explicit ResetTask(std::shared_ptr<Event> event) : event_(std::move(event)) {}
  Progress Run(Status*) override {
    event_->Clear();
    return Progress::kDone;
  }
  const char* name() const override { return "reset event"; }
  bool skipped_after_error() const override { return false; }

 private:
  std::shared_ptr<Event> event_;
};

class WaitTask : public Task {
 public:
  WaitTask(std::shared_ptr<Event> event, uint64_t record, std::weak_ptr<Stream> stream)
      : event_(std::move(event)), record_(record), stream_(std::move(stream)) {}
  ~WaitTask() override { event_->WaitDone(); }
  Progress Run(Status*) override {
    return event_->ReachedOrWake(record_, stream_.lock()) ? Progress::kDone : Progress::kParked;
  }
  const char* name() const override { return "wait for event"; }
  bool skipped_after_error() const override { return false; }

 private:
  std::shared_ptr<Event> event_;
  uint64_t record_;
  std::weak_ptr<Stream> stream_;
};

}  // namespace

Event::Snapshot Event::Look() {
  std::lock_guard lock(mutex_);
  return state_;
}

void Event::Record(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream) {
  // Under the lock, so that records of several threads are numbered as they are enqueued.
  std::lock_guard lock(mutex_);
  ++state_.recorded;
  state_.stream = stream;
  state_.task = stream->Enqueue(std::make_unique<RecordTask>(self, state_.recorded));
}

void Event::Reset(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream) {
  stream->Enqueue(std::make_unique<ResetTask>(self));
}

void Event::Await(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream) {
  uint64_t record = 0;
  {
    std::lock_guard lock(mutex_);
    record = state_.recorded;
    ++waits_pending_;
  }
  stream->Enqueue(std::make_unique<WaitTask>(self, record, stream));
}

void Event::Complete(uint64_t record) {
  std::vector<std::shared_ptr<Stream>> waiters;
  {
    std::lock_guard lock(mutex_);
    state_.completed = std::max(state_.completed, record);
    state_.time = Clock::now();
    waiters.swap(waiters_);
  }
  for (const auto& stream : waiters) stream->Wake();
}

void Event::Clear() {
  std::lock_guard lock(mutex_);
  if (state_.completed != state_.recorded) return;  // recorded anew since
  // The numbers go on: a wait that is still queued stands for the record that it was made for.
  state_.reset = state_.recorded;
  state_.stream.reset();
}

bool Event::ReachedOrWake(uint64_t record, const std::shared_ptr<Stream>& stream) {
  std::lock_guard lock(mutex_);
  if (state_.completed >= record) return true;
  waiters_.push_back(stream);
  return false;
}

uint64_t Event::waits_pending() {
  std::lock_guard lock(mutex_);
  return waits_pending_;
}

void Event::WaitDone() {
  std::lock_guard lock(mutex_);
  --waits_pending_;
}

namespace {

constexpr uint32_t kKnownFlags = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS |
                                 ACL_EVENT_TIME_LINE | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC;

Status CreateEvent(aclrtEvent* event, uint32_t flags, bool resettable) {
  std::shared_ptr<Context> context;
  Status status = RequireOut("event", event);
  if (!status.ok()) return status;
  if (flags == 0 || (flags & ~kKnownFlags) != 0) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat("flag value is ", flags, ", expected ACL_EVENT_ values, or-ed"));
  }
  status = CurrentContext(&context);
  if (!status.ok()) return status;
  void* handle = InsertHandle(std::make_shared<Event>(flags, resettable));
  if (handle == nullptr) {
    return Status(ACL_ERROR_RT_NO_EVENT_RESOURCE, "no handle is left for an event");
  }
  *event = handle;
  return status;
}

/// For what a stream does with an event.
Status FindBoth(aclrtEvent event, aclrtStream stream, std::shared_ptr<Event>* event_object,
                std::shared_ptr<Stream>* stream_object) {
  Status status = FindHandle("event", event, event_object);
  return status.ok() ? FindStream(stream, stream_object) : status;
}

bool HasSync(uint32_t flags) { return (flags & ACL_EVENT_SYNC) != 0; }

Status RequireUse(bool allowed, const char* use) {
  if (allowed) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat("event use is to be ", use, ", expected an event made with ACL_EVENT_SYNC"));
}

bool Reached(Event& event) {
  const Event::Snapshot state = event.Look();
  return state.completed >= state.recorded;
}

Status ElapsedTime(float* ms, Event& start, Event& end) {
  const Event::Snapshot first = start.Look(), last = end.Look();
  const auto timed = [](Event& event, const Event::Snapshot& state) {
    return state.recorded != state.reset && (event.flags() & ACL_EVENT_TIME_LINE) != 0;
  };
  if (!timed(start, first) || !timed(end, last)) {
    return Status(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                  Concat(timed(start, first) ? "endEvent" : "startEvent",
                         " time is not kept, expected an event that was recorded and made with "
                         "ACL_EVENT_TIME_LINE"));
  }
  if (first.completed < first.recorded || last.completed < last.recorded) {
    return Status(ACL_ERROR_RT_EVENT_NOT_COMPLETE,
                  Concat(first.completed < first.recorded ? "startEvent" : "endEvent",
                         " is not reached, expected a synchronise of it before"));
  }
  const std::chrono::duration<float, std::milli> elapsed = last.time - first.time;
  if (elapsed.count() < 0) {
    return Status(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL,
                  "endEvent time is before that of startEvent, expected it later");
  }
  *ms = elapsed.count();
  return {};
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::Event;
using openaclnn::FindHandle;
using openaclnn::ReleaseApi;
using openaclnn::RequireOut;
using openaclnn::Status;
using openaclnn::Stream;

aclError aclrtCreateEvent(aclrtEvent* event) {
  return Api("aclrtCreateEvent", [&] {
    return openaclnn::CreateEvent(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, false);
  });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return Api("aclrtCreateEventWithFlag",
             [&] { return openaclnn::CreateEvent(event, flag, openaclnn::HasSync(flag)); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return Api("aclrtCreateEventExWithFlag",
             [&] { return openaclnn::CreateEvent(event, flag, openaclnn::HasSync(flag)); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return ReleaseApi("aclrtDestroyEvent", [&] {
    Status status = RequireOut("event", event);
    return status.ok() ? openaclnn::RemoveHandle<Event>("event", event) : status;
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return Api("aclrtRecordEvent", [&] {
    std::shared_ptr<Event> object;
    std::shared_ptr<Stream> queue;
    Status status = openaclnn::FindBoth(event, stream, &object, &queue);
    if (status.ok()) object->Record(object, queue);
    return status;
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return Api("aclrtResetEvent", [&] {
    std::shared_ptr<Event> object;
    std::shared_ptr<Stream> queue;
    Status status = openaclnn::FindBoth(event, stream, &object, &queue);
    if (status.ok()) status = openaclnn::RequireUse(object->resettable(), "reset");
    if (status.ok()) object->Reset(object, queue);
    return status;
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return Api("aclrtStreamWaitEvent", [&] {
    std::shared_ptr<Event> object;
    std::shared_ptr<Stream> queue;
    Status status = openaclnn::FindBoth(event, stream, &object, &queue);
    if (status.ok()) {
      status = openaclnn::RequireUse(openaclnn::HasSync(object->flags()), "waited for");
    }
    if (status.ok()) object->Await(object, queue);
    return status;
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return Api("aclrtSynchronizeEvent", [&] {
    std::shared_ptr<Event> object;
    Status status = FindHandle("event", event, &object);
    if (!status.ok()) return status;
    const Event::Snapshot state = object->Look();
    if (state.stream == nullptr) return status;
    state.stream->Wait(state.task, {});
    return state.stream->TakeError();
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return Api("aclrtQueryEventStatus", [&] {
    std::shared_ptr<Event> object;
    Status result = RequireOut("status", status);
    if (result.ok()) result = FindHandle("event", event, &object);
    if (!result.ok()) return result;
    *status = openaclnn::Reached(*object) ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                          : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return result;
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return Api("aclrtQueryEvent", [&] {
    std::shared_ptr<Event> object;
    Status result = RequireOut("status", status);
    if (result.ok()) result = FindHandle("event", event, &object);
    if (!result.ok()) return result;
    *status = openaclnn::Reached(*object) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return result;
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return Api("aclrtQueryEventWaitStatus", [&] {
    std::shared_ptr<Event> object;
    Status result = RequireOut("status", status);
    if (result.ok()) result = RequireOut("event", event);
    if (result.ok()) result = FindHandle("event", event, &object);
    if (!result.ok()) return result;
    *status = object->waits_pending() == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE
                                           : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return result;
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return Api("aclrtEventElapsedTime", [&] {
    std::shared_ptr<Event> start, end;
    Status status = RequireOut("ms", ms);
    if (status.ok()) status = FindHandle("startEvent", startEvent, &start);
    if (status.ok()) status = FindHandle("endEvent", endEvent, &end);
    return status.ok() ? openaclnn::ElapsedTime(ms, *start, *end) : status;
  });
}
