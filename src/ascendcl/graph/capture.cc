// SPDX-License-Identifier: Apache-2.0
// Capture: which streams are in which, and how one ends.
#include "ascendcl/graph/capture.h"

#include <algorithm>
#include <cstddef>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "ascendcl/check/race_report.h"
#include "ascendcl/graph/open_captures.h"
#include "ascendcl/graph/task_group.h"
#include "ascendcl/stream/context.h"

namespace openaclnn {

std::atomic<uint32_t> g_restricting_captures{0};

namespace {

thread_local aclmdlRICaptureMode t_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

// The following functions are called under the lock.

/// Takes the capture out of the list: its streams run again what is launched on them.
void Release(Captures& all, std::list<Capture>::iterator capture, std::list<Capture>* ended) {
  ended->splice(ended->end(), all.open, capture);
  Capture& released = ended->back();
  for (auto& [number, member] : released.members) member.stream->set_captured(false);
  if (FindBeside(all, *released.default_stream) == nullptr) {
    released.default_stream->set_captured(false);
  }
  if (released.restricts()) g_restricting_captures.fetch_sub(1, std::memory_order_relaxed);
}

/// Forgets the graph of a capture that was released and leaves no graph.
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
  if (!capture.valid) return Invalidated(capture);
  Status status = CheckGroupsEnded(capture);
  if (!status.ok() || IsJoined(capture)) return status;
  return Status(ACL_ERROR_RT_STREAM_UNJOINED,
                "stream capture has tasks of another stream that stream does not wait for, "
                "expected an event recorded there behind them and waited for here");
}

}  // namespace

Status BeginCapture(const std::shared_ptr<Stream>& stream,
                    const std::shared_ptr<Stream>& default_stream, aclmdlRICaptureMode mode) {
  Captures& all = AllCaptures();
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
  Captures& all = AllCaptures();
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
  Captures& all = AllCaptures();
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
  std::list<Update> left;    // as these
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  LeaveUpdate(all, stream, &left);
  const auto capture = std::find_if(all.open.begin(), all.open.end(), [&](const Capture& each) {
    return each.members.contains(stream.number());
  });
  if (capture == all.open.end()) return;
  capture->Invalidate(kClosing);
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
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  status = RemoveHandle<Graph>("modelRI", handle);
  if (status.ok()) all.graphs.erase({graph->context(), handle});
  return status;
}

void DestroyGraphsOf(const void* context) noexcept {
  Captures& all = AllCaptures();
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

namespace {

[[maybe_unused]] const int kAtLoad =
    CallAtContextEnd({.of_stream = LeaveCapture, .of_context = DestroyGraphsOf});

}  // namespace

const void* FindGraphOf(const std::byte* host, uint64_t bytes) {
  Captures& all = AllCaptures();
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
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  if (Update* const update = FindUpdate(all, stream))
    return KeepForUpdate(*update, std::move(node));
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
  if (member.group && node.of_program) {
    return Invalidate(*capture, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, CannotBeUpdated(node));
  }
  const Graph::Node& kept = member.group
                                ? AddToGroup(*capture->graph, &*member.group, std::move(node))
                                : capture->graph->Add(std::move(node));
  const Caller caller = {kept.call, stream.number(), stream.handle()};
  if (kept.of_program) capture->races.Forget();
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
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  Status status;
  Capture* const capture = FindOpen(all, stream, &status);
  return capture == nullptr ? status : Invalidate(*capture, code, std::move(words));
}

Status RefuseDeviceWait(const Stream& stream) {
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  Status status;
  for (Capture& capture : all.open) {
    if (capture.default_stream.get() != &stream && !capture.members.contains(stream.number())) {
      continue;
    }
    if (status.ok()) {
      status = Status(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                      Concat("device use is to be synchronised while stream ", OriginOf(capture),
                             " is captured, expected aclmdlRICaptureEnd of that stream before"));
    }
    capture.Invalidate(status.text());
  }
  return status;
}

Status RefuseUnsafe() {
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  if (t_mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return {};
  Status refused;
  for (Capture& capture : all.open) {
    const bool own = capture.thread == std::this_thread::get_id() && capture.restricts();
    const bool both_global = capture.mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
                             t_mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    if (!own && !both_global) continue;
    if (refused.ok()) {
      refused =
          Status(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                 "call is one that the mode of a capture forbids, expected it outside of captures, "
                 "or relaxed mode on this thread (aclmdlRICaptureThreadExchangeMode)");
    }
    capture.Invalidate(refused.text());
  }
  return refused;
}

}  // namespace openaclnn
