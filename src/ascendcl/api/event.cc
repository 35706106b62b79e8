// SPDX-License-Identifier: Apache-2.0
// Events: aclrtCreateEvent, aclrtRecordEvent, aclrtStreamWaitEvent, aclrtQueryEvent and their kin.
#include "ascendcl/stream/event.h"

#include "ascendcl/graph/capture.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/process/config.h"
#include "ascendcl/report/error.h"
#include "ascendcl/report/report.h"
#include "ascendcl/stream/context.h"
#include "ascendcl/stream/host_wait.h"

namespace openaclnn {
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

/// For what the host does with an event, which is nothing while its last record is captured.
Status FindForHost(const char* operand, aclrtEvent event, std::shared_ptr<Event>* object) {
  Status status = FindHandle(operand, event, object);
  if (status.ok() && (*object)->captured()) return RefuseCapturedEvent(operand, **object);
  return status;
}

/// Whether a capture, not the stream, is to do what a call asks for.
bool InCapture(const Event& event, const Stream& stream) {
  return stream.captured() || event.captured();
}

/// Whether the last record was reached; what the host acts on.
bool LookReached(Event& event) {
  const Event::Snapshot state = event.Look();
  if (state.reached) PassPoint(state.point);
  return state.reached;
}

/// A wait for what was never asked for is over at once, which hides that the record is missing.
/// Where the record was reset a device may wait for ever.
void CheckRecorded(const Event& event, const void* handle, const char* api) noexcept {
  const bool reset = event.was_reset();
  if (event.was_recorded() && !reset) return;
  (void)Guard([&] {
    Config config;
    Status status = CurrentConfig(&config);
    if (!status.ok() || config.check == CheckLevel::kOff) return status;
    // Once for a function: a ring of events that are waited for first is right, if it is meant.
    if (!CountFinding(Check::kSynccheck, Concat(api, reset ? " reset" : ""))) return status;
    TellFinding({.check = Check::kSynccheck,
                 .title = Concat(api, " waits for an event that was ",
                                 reset ? "reset and not recorded since" : "never recorded"),
                 .what = Concat("event ", handle, " has no record",
                                reset ? " since aclrtResetEvent: a device may wait for ever"
                                      : ": the wait is over at once"),
                 .where = {},
                 .fix = "call aclrtRecordEvent before it, behind what is to be waited for"});
    return status;
  });
}

bool HasSync(uint32_t flags) { return (flags & ACL_EVENT_SYNC) != 0; }

Status RequireUse(bool allowed, const char* use, const char* wanted) {
  if (allowed) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat("event use is to be ", use, ", expected an event made ", wanted));
}

/// Waits for the last record; no deadline is for ever.
Status SynchronizeEvent(Event& event, const Stream::Deadline& deadline, int32_t timeout) {
  const Event::Snapshot state = event.Look();
  if (state.stream == nullptr) {
    PassPoint(state.point);  // of a record that was reached, and reset
    return {};
  }
  const HostWait wait(*state.stream, state.task);
  Status status = wait.Refuse();
  if (!status.ok()) return status;
  if (!state.stream->WaitUntold(state.task, deadline)) return TimeoutExpired("event", timeout);
  PassPoint(state.point);
  status = state.stream->TakeError();
  Memory::Get().LookAtCanaries(timeout < 0 ? "aclrtSynchronizeEvent"
                                           : "aclrtSynchronizeEventWithTimeout");
  return status;
}

bool IsTimed(Event& event, const Event::Snapshot& state) {
  return state.recorded && (event.flags() & ACL_EVENT_TIME_LINE) != 0;
}

Status NotTimed(const char* operand) {
  return Status(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                Concat(operand,
                       " time is not kept, expected an event that was recorded and made "
                       "with ACL_EVENT_TIME_LINE"));
}

Status NotReached(const char* operand) {
  return Status(ACL_ERROR_RT_EVENT_NOT_COMPLETE,
                Concat(operand, " is not reached, expected a synchronise of it before"));
}

/// Since the machine was started, which is what the clock counts.
Status Timestamp(Event& event, uint64_t* microseconds) {
  const Event::Snapshot state = event.Look();
  if (!IsTimed(event, state)) return NotTimed("event");
  if (!state.reached) return NotReached("event");
  PassPoint(state.point);
  const std::chrono::duration<double, std::micro> since = state.time.time_since_epoch();
  *microseconds = static_cast<uint64_t>(since.count());
  return {};
}

Status ElapsedTime(float* ms, Event& start, Event& end) {
  const Event::Snapshot first = start.Look(), last = end.Look();
  if (!IsTimed(start, first)) return NotTimed("startEvent");
  if (!IsTimed(end, last)) return NotTimed("endEvent");
  if (!first.reached) return NotReached("startEvent");
  if (!last.reached) return NotReached("endEvent");
  PassPoint(first.point);
  PassPoint(last.point);
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
    if (!status.ok()) return status;
    if (queue->captured()) {
      status = openaclnn::RecordInCapture(*object, *queue);
    } else {
      object->Record(object, queue);
    }
    return status;
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return Api("aclrtResetEvent", [&] {
    std::shared_ptr<Event> object;
    std::shared_ptr<Stream> queue;
    Status status = openaclnn::FindBoth(event, stream, &object, &queue);
    if (status.ok())
      status = openaclnn::RequireUse(
          object->resettable(), "reset",
          "by aclrtCreateEventWithFlag or aclrtCreateEventExWithFlag with ACL_EVENT_SYNC");
    if (!status.ok()) return status;
    if (openaclnn::InCapture(*object, *queue)) {
      status = openaclnn::ResetInCapture(*object, *queue);
    } else {
      object->Reset(object, queue);
    }
    return status;
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return Api("aclrtStreamWaitEvent", [&] {
    std::shared_ptr<Event> object;
    std::shared_ptr<Stream> queue;
    Status status = openaclnn::FindBoth(event, stream, &object, &queue);
    if (status.ok()) {
      status = openaclnn::RequireUse(openaclnn::HasSync(object->flags()), "waited for",
                                     "with ACL_EVENT_SYNC");
    }
    if (!status.ok()) return status;
    openaclnn::CheckRecorded(*object, event, "aclrtStreamWaitEvent");
    if (openaclnn::InCapture(*object, *queue)) {
      status = openaclnn::AwaitInCapture(*object, queue);
    } else {
      object->Await(object, queue);
    }
    return status;
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return Api("aclrtSynchronizeEvent", [&] {
    std::shared_ptr<Event> object;
    Status status = openaclnn::FindForHost("event", event, &object);
    if (!status.ok()) return status;
    openaclnn::CheckRecorded(*object, event, "aclrtSynchronizeEvent");
    return openaclnn::SynchronizeEvent(*object, {}, -1);
  });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return Api("aclrtSynchronizeEventWithTimeout", [&] {
    std::shared_ptr<Event> object;
    Stream::Deadline deadline;
    Status status = openaclnn::FindForHost("event", event, &object);
    if (status.ok()) status = openaclnn::ParseTimeout(timeout, &deadline);
    if (!status.ok()) return status;
    openaclnn::CheckRecorded(*object, event, "aclrtSynchronizeEventWithTimeout");
    return openaclnn::SynchronizeEvent(*object, deadline, timeout);
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return Api("aclrtEventGetTimestamp", [&] {
    std::shared_ptr<Event> object;
    Status status = RequireOut("timestamp", timestamp);
    if (status.ok()) status = openaclnn::FindForHost("event", event, &object);
    return status.ok() ? openaclnn::Timestamp(*object, timestamp) : status;
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return Api("aclrtQueryEventStatus", [&] {
    std::shared_ptr<Event> object;
    Status result = RequireOut("status", status);
    if (result.ok()) result = openaclnn::FindForHost("event", event, &object);
    if (!result.ok()) return result;
    *status = openaclnn::LookReached(*object) ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                              : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return result;
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return Api("aclrtQueryEvent", [&] {
    std::shared_ptr<Event> object;
    Status result = RequireOut("status", status);
    if (result.ok()) result = openaclnn::FindForHost("event", event, &object);
    if (!result.ok()) return result;
    *status =
        openaclnn::LookReached(*object) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return result;
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return Api("aclrtQueryEventWaitStatus", [&] {
    std::shared_ptr<Event> object;
    Status result = RequireOut("status", status);
    if (result.ok()) result = RequireOut("event", event);
    if (result.ok()) result = openaclnn::FindForHost("event", event, &object);
    if (!result.ok()) return result;
    const openaclnn::StreamPoint waits = object->Look().waits;
    const bool complete = object->waits_pending() == 0;
    if (complete) openaclnn::PassPoint(waits);
    *status = complete ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return result;
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return Api("aclrtEventElapsedTime", [&] {
    std::shared_ptr<Event> start, end;
    Status status = RequireOut("ms", ms);
    if (status.ok()) status = openaclnn::FindForHost("startEvent", startEvent, &start);
    if (status.ok()) status = openaclnn::FindForHost("endEvent", endEvent, &end);
    return status.ok() ? openaclnn::ElapsedTime(ms, *start, *end) : status;
  });
}
