// SPDX-License-Identifier: Apache-2.0
// Capture: which streams are in which, and how one ends.
#include "ascendcl/capture.h"

#include <algorithm>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "ascendcl/check/graph_races.h"
#include "ascendcl/check/race_report.h"
#include "common/lasting.h"

namespace openaclnn {

std::atomic<uint32_t> g_restricting_captures{0};

namespace {

/// A stream of a capture.
struct Member {
  Member(const std::shared_ptr<Stream>& joins, const VectorClock& before)
      : stream(joins), clock(before) {
    clock.Raise(stream->number(), 0);  // from now on it may be raised without memory
  }

  std::shared_ptr<Stream> stream;
  uint64_t tasks = 0;  // captured from it
  VectorClock clock;   // what comes before its next task
};

struct Capture {
  uint64_t number = 0;
  std::shared_ptr<Graph> graph;
  void* handle = nullptr;
  StreamNumber origin = 0;  // where it began, and has to end
  std::shared_ptr<Stream> default_stream;
  std::thread::id thread;
  aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  bool valid = true;
  std::map<StreamNumber, Member> members;
  GraphRaces races;

  bool restricts() const { return mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED; }
};

/// A graph that has a handle: its context's, and its own.
using Made = std::pair<const void*, const void*>;

struct Captures {
  std::mutex mutex;  // guards what follows
  uint64_t last_number = 0;
  std::list<Capture> open;
  std::set<Made> graphs;
};

/// A context that goes away asks for them, and needs no memory.
Captures& All() { return Lasting<Captures>(); }

thread_local aclmdlRICaptureMode t_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

// What follows is called under the lock.

/// The capture that the stream is in; null: none.
Capture* FindOf(Captures& all, const Stream& stream) {
  for (Capture& capture : all.open) {
    if (capture.members.contains(stream.number())) return &capture;
  }
  return nullptr;
}

Member& MemberOf(Capture& capture, const Stream& stream) {
  return capture.members.find(stream.number())->second;
}

Status Invalidated() {
  return Status(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                "stream capture is invalid since a call before, expected aclmdlRICaptureEnd and a "
                "new capture without that call");
}

/// The stream whose capture has to end.
const void* OriginOf(const Capture& capture) {
  return capture.members.find(capture.origin)->second.stream->handle();
}

/// What is refused on a default stream beside captures of its context, which are invalid then.
Status RefuseDefault(Captures& all, const Stream& stream) {
  const Capture* first = nullptr;
  for (Capture& capture : all.open) {
    if (capture.default_stream.get() != &stream) continue;
    capture.valid = false;
    if (first == nullptr) first = &capture;
  }
  return Status(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                Concat("stream value is the default stream, expected another",
                       first == nullptr ? std::string(" in captures")
                                        : Concat(" while stream ", OriginOf(*first),
                                                 " of its context is captured")));
}

Status RefuseClosed() {
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                "stream value is one that is being destroyed, expected it to outlive its capture");
}

/// The capture for a launch; null: *status says why there is none.
Capture* FindOpen(Captures& all, const Stream& stream, Status* status) {
  Capture* capture = FindOf(all, stream);
  if (capture != nullptr && capture->valid) return capture;
  if (capture != nullptr) {
    *status = Invalidated();
  } else if (stream.handle() == nullptr) {
    *status = RefuseDefault(all, stream);
  } else {
    *status = Status(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                     "stream capture has just ended, expected the end of a capture after the "
                     "launches of all threads");
  }
  return nullptr;
}

Status Invalidate(Capture& capture, int code, std::string words) {
  capture.valid = false;
  return Status(code, std::move(words));
}

bool BlocksDefault(const Captures& all, const Stream& stream) {
  return std::any_of(all.open.begin(), all.open.end(), [&](const Capture& capture) {
    return capture.default_stream.get() == &stream;
  });
}

/// Takes the capture out of the list: its streams run again what is launched on them.
void Release(Captures& all, std::list<Capture>::iterator capture, std::list<Capture>* ended) {
  ended->splice(ended->end(), all.open, capture);
  Capture& released = ended->back();
  for (auto& [number, member] : released.members) member.stream->set_captured(false);
  if (!BlocksDefault(all, *released.default_stream)) {
    released.default_stream->set_captured(false);
  }
  if (released.restricts()) g_restricting_captures.fetch_sub(1, std::memory_order_relaxed);
}

/// Of a capture that has been released and leaves none.
void ForgetGraph(Captures& all, const Capture& released) {
  all.graphs.erase({released.graph->context(), released.handle});
  RuntimeHandles().Remove(Kind::kGraph, released.handle);
}

/// Whether a stream has tasks that nothing of the origin comes after.
bool IsJoined(const Capture& capture) {
  const VectorClock& end = capture.members.find(capture.origin)->second.clock;
  return std::all_of(capture.members.begin(), capture.members.end(),
                     [&](const auto& entry) { return end.At(entry.first) >= entry.second.tasks; });
}

Status CheckEnd(Capture& capture) {
  if (!capture.valid) return Invalidated();
  if (IsJoined(capture)) return {};
  return Status(ACL_ERROR_RT_STREAM_UNJOINED,
                "stream capture has tasks of another stream that stream does not wait for, "
                "expected an event recorded there behind them and waited for here");
}

/// What stands in both; if it throws, the clock is as it was.
void Join(VectorClock* clock, const VectorClock& other) {
  VectorClock joined = *clock;
  joined.Join(other, [](StreamNumber) { return true; });
  *clock = std::move(joined);
}

}  // namespace

Status BeginCapture(const std::shared_ptr<Stream>& stream,
                    const std::shared_ptr<Stream>& default_stream, aclmdlRICaptureMode mode) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  if (Capture* const capture = FindOf(all, *stream)) {
    return Invalidate(*capture, ACL_ERROR_RT_STREAM_CAPTURED,
                      "stream capture has begun before, expected its end first");
  }
  if (stream == default_stream) return RefuseDefault(all, *stream);
  if (stream->closed()) return RefuseClosed();
  std::list<Capture> begun(1);
  std::set<Made> made = {{stream->context(), nullptr}};
  Capture& capture = begun.front();
  capture.number = ++all.last_number;
  capture.graph = std::make_shared<Graph>(stream->context());
  capture.origin = stream->number();
  capture.default_stream = default_stream;
  capture.thread = std::this_thread::get_id();
  capture.mode = mode;
  capture.members.emplace(stream->number(), Member(stream, {}));
  capture.handle = InsertHandle(capture.graph);
  if (capture.handle == nullptr) {
    return Status(ACL_ERROR_RT_NO_MODEL_RESOURCE, "no handle is left for a model running instance");
  }
  if (capture.restricts()) g_restricting_captures.fetch_add(1, std::memory_order_relaxed);
  auto entry = made.extract(made.begin());  // needs no memory any more
  entry.value().second = capture.handle;
  all.graphs.insert(std::move(entry));
  all.open.splice(all.open.end(), begun);
  default_stream->set_captured(true);
  stream->set_captured(true);
  return {};
}

Status EndCapture(const Stream& stream, void** handle) {
  std::list<Capture> ended;  // destroyed without the lock
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  Capture* const found = FindOf(all, stream);
  if (found == nullptr) {
    return Status(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                  "stream capture is none, expected aclmdlRICaptureBegin of this stream before");
  }
  if (found->origin != stream.number()) {
    return Status(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                  "stream value is one that joined the capture, expected the one that it began on");
  }
  if (found->restricts() && found->thread != std::this_thread::get_id()) {
    return Status(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                  "calling thread is another than the one that began the capture, expected that "
                  "one, or a capture in relaxed mode");
  }
  Status status = CheckEnd(*found);
  const auto capture = std::find_if(all.open.begin(), all.open.end(),
                                    [&](const Capture& each) { return &each == found; });
  Release(all, capture, &ended);
  if (!status.ok()) {
    ForgetGraph(all, ended.back());
    return status;
  }
  ended.back().graph->Seal();
  *handle = ended.back().handle;
  return status;
}

aclmdlRICaptureStatus LookAtCapture(const Stream& stream, void** handle) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  const Capture* const capture = FindOf(all, stream);
  if (capture == nullptr) return ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  *handle = capture->handle;
  return capture->valid ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE
                        : ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
}

aclmdlRICaptureMode ExchangeCaptureMode(aclmdlRICaptureMode mode) {
  return std::exchange(t_mode, mode);
}

void LeaveCapture(const Stream& stream) noexcept {
  std::list<Capture> ended;  // destroyed without the lock
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  const auto capture = std::find_if(all.open.begin(), all.open.end(), [&](const Capture& each) {
    return each.members.contains(stream.number());
  });
  if (capture == all.open.end()) return;
  capture->valid = false;
  if (capture->origin != stream.number()) {
    const auto member = capture->members.find(stream.number());
    member->second.stream->set_captured(false);
    capture->members.erase(member);
    return;
  }
  Release(all, capture, &ended);
  ForgetGraph(all, ended.back());
}

Status DestroyGraph(const void* handle) {
  std::shared_ptr<Graph> graph;  // destroyed without the lock
  Status status = FindHandle("modelRI", handle, &graph);
  if (!status.ok()) return status;
  if (!graph->sealed()) {
    return Status(ACL_ERROR_RT_MODEL_CAPTURED,
                  "modelRI state is being captured, expected aclmdlRICaptureEnd before");
  }
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  status = RemoveHandle<Graph>("modelRI", handle);
  if (status.ok()) all.graphs.erase({graph->context(), handle});
  return status;
}

void DestroyGraphsOf(const void* context) noexcept {
  Captures& all = All();
  for (;;) {
    Pinned<HandleEntry<Graph>> graph;  // destroyed without the lock
    std::lock_guard lock(all.mutex);
    const auto made = all.graphs.lower_bound({context, nullptr});
    if (made == all.graphs.end() || made->first != context) return;
    (void)FindObject(RuntimeHandles(), made->second, &graph);
    RuntimeHandles().Remove(Kind::kGraph, made->second);
    all.graphs.erase(made);
  }
}

const void* FindGraphOf(const std::byte* host, uint64_t bytes) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  for (const auto& [context, handle] : all.graphs) {
    Pinned<HandleEntry<Graph>> graph;
    (void)FindObject(RuntimeHandles(), handle, &graph);
    if (graph && graph->object->Keeps(host, bytes)) return handle;
  }
  return nullptr;
}

namespace {

Status KeepTask(const Stream& stream, Graph::Node&& node, std::vector<Race>* races) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  Status status;
  Capture* const capture = FindOpen(all, stream, &status);
  if (capture == nullptr) return status;
  if (!node.task->repeatable()) {
    return Invalidate(*capture, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                      Concat("task of ", node.call,
                             " cannot be captured, expected it outside of "
                             "captures"));
  }
  Member& member = MemberOf(*capture, stream);
  const Graph::Node& kept = capture->graph->Add(std::move(node));
  const Caller caller = {kept.call, stream.number(), stream.handle()};
  *races = capture->races.Add(caller, member.clock, kept.accesses);
  member.clock.Raise(stream.number(), ++member.tasks);
  return status;
}

}  // namespace

Status CaptureTask(const Stream& stream, Graph::Node&& node) {
  std::vector<Race> races;  // reported without the lock
  Status status = KeepTask(stream, std::move(node), &races);
  ReportRaces(races);
  return status;
}

Status RefuseUse(const Stream& stream, const char* use) {
  return RefuseLaunch(
      stream, ACL_ERROR_RT_STREAM_CAPTURED,
      Concat("stream use is ", use, ", expected launches alone while it is captured"));
}

Status RefuseLaunch(const Stream& stream, int code, std::string words) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  Status status;
  Capture* const capture = FindOpen(all, stream, &status);
  return capture == nullptr ? status : Invalidate(*capture, code, std::move(words));
}

Status RefuseDeviceWait(const Stream& stream) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  Status status;
  for (Capture& capture : all.open) {
    if (capture.default_stream.get() != &stream && !capture.members.contains(stream.number())) {
      continue;
    }
    capture.valid = false;
    if (!status.ok()) continue;
    status = Status(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                    Concat("device use is to be synchronised while stream ", OriginOf(capture),
                           " is captured, expected aclmdlRICaptureEnd of that stream before"));
  }
  return status;
}

namespace {

/// Of a graph and the world outside, which would have to see it.
Status RefuseExternal(const Event& event, Capture& capture) {
  if ((event.flags() & ACL_EVENT_EXTERNAL) == 0) return {};
  return Invalidate(capture, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "event flag is ACL_EVENT_EXTERNAL, expected an event without it in a capture");
}

Status RefuseEnded(const char* operand) {
  return Status(
      ACL_ERROR_RT_EVENT_CAPTURED,
      Concat(operand, " record is one of a capture, expected a record outside of captures since"));
}

/// The capture of the event's last record; null: none, or it has ended.
Capture* FindOf(Captures& all, const CapturePoint* point) {
  if (point == nullptr) return nullptr;
  const auto found = std::find_if(all.open.begin(), all.open.end(), [&](const Capture& capture) {
    return capture.number == point->capture;
  });
  return found != all.open.end() ? &*found : nullptr;
}

Status RefuseOutside(Capture& capture) {
  return Invalidate(capture, ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                    "event record is outside of the capture, expected one on a stream of it");
}

}  // namespace

Status RecordInCapture(Event& event, const Stream& stream) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  Status status;
  Capture* const capture = FindOpen(all, stream, &status);
  if (capture == nullptr) return status;
  status = RefuseExternal(event, *capture);
  if (!status.ok()) return status;
  event.RecordInCapture(std::make_shared<const CapturePoint>(
      CapturePoint{capture->number, MemberOf(*capture, stream).clock}));
  return status;
}

Status ResetInCapture(Event& event, const Stream& stream) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  if (!stream.captured()) return RefuseEnded("event");
  Status status;
  Capture* const capture = FindOpen(all, stream, &status);
  if (capture == nullptr) return status;
  const bool within = FindOf(all, event.capture_point().get()) == capture;
  return within || !event.was_recorded() ? Status() : RefuseOutside(*capture);
}

Status AwaitInCapture(Event& event, const std::shared_ptr<Stream>& stream) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  const std::shared_ptr<const CapturePoint> point = event.capture_point();
  Capture* const capture = FindOf(all, point.get());
  Status status;
  if (stream->captured()) {
    Capture* const own = FindOpen(all, *stream, &status);
    if (own == nullptr) return status;
    status = RefuseExternal(event, *own);
    if (!status.ok()) return status;
    if (capture == own) {
      Join(&MemberOf(*own, *stream).clock, point->clock);
      return status;
    }
    if (capture == nullptr) return event.was_recorded() ? RefuseOutside(*own) : Status();
    own->valid = false;
    return Invalidate(*capture, ACL_ERROR_STREAM_CAPTURE_CONFLICT,
                      "event record is of another capture than the stream's, expected one capture");
  }
  if (capture == nullptr) return RefuseEnded("event");
  if (!capture->valid) return Invalidated();
  if (stream->closed()) return RefuseClosed();
  if (stream->context() != capture->graph->context()) {
    return Invalidate(*capture, ACL_ERROR_RT_STREAM_CONTEXT,
                      "stream context is not that of the event's capture, expected one context");
  }
  capture->members.emplace(stream->number(), Member(stream, point->clock));
  stream->set_captured(true);
  return status;
}

Status RefuseCapturedEvent(const char* operand, Event& event) {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  Capture* const capture = FindOf(all, event.capture_point().get());
  if (capture != nullptr) capture->valid = false;
  return RefuseEnded(operand);
}

Status RefuseUnsafe() {
  Captures& all = All();
  std::lock_guard lock(all.mutex);
  if (t_mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return {};
  bool refused = false;
  for (Capture& capture : all.open) {
    const bool own = capture.thread == std::this_thread::get_id() && capture.restricts();
    const bool both_global = capture.mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
                             t_mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    if (!own && !both_global) continue;
    capture.valid = false;
    refused = true;
  }
  if (!refused) return {};
  return Status(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                "call is one that the mode of a capture forbids, expected it outside of captures, "
                "or relaxed mode on this thread (aclmdlRICaptureThreadExchangeMode)");
}

}  // namespace openaclnn
