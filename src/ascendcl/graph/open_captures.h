// SPDX-License-Identifier: Apache-2.0
// Captures that have begun: their streams, what they have kept, and why one is invalid.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "ascendcl/graph/graph.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/stream.h"
#include "ascendcl/watch/graph_races.h"

namespace openaclnn {

/// A captured task that may be updated, of the graph that owns it.
struct GroupedTask {
  UpdatableTask* task;
  const char* call;  // what launched it
};

/// A stream of a capture.
struct Member {
  Member(const std::shared_ptr<Stream>& joins, const VectorClock& before)
      : stream(joins), clock(before) {
    clock.Raise(stream->number(), 0);  // from now on it may be raised without memory
  }

  std::shared_ptr<Stream> stream;
  uint64_t tasks = 0;                             // captured from it
  VectorClock clock;                              // what comes before its next task
  std::optional<std::vector<GroupedTask>> group;  // that has begun and not ended
};

struct Capture {
  uint64_t number = 0;
  std::shared_ptr<Graph> graph;
  void* handle = nullptr;
  StreamNumber origin = 0;  // the stream on which it began, and has to end
  std::shared_ptr<Stream> default_stream;
  std::thread::id thread;
  aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  bool valid = true;
  std::string why;  // the words of the first refused call; empty while valid
  std::map<StreamNumber, Member> members;
  GraphRaces races;

  bool restricts() const { return mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED; }
  void Invalidate(std::string_view refusal) noexcept {
    if (std::exchange(valid, false)) (void)Guard([&] { return why = refusal, Status(); });
  }
};

/// Tasks that an update replaces together; gone when their graph is.
struct TaskGroup {
  std::weak_ptr<Graph> graph;
  std::vector<GroupedTask> tasks;
};

/// A stream whose launches are to replace the tasks of a group.
struct Update {
  std::shared_ptr<Stream> stream;
  std::shared_ptr<Graph> graph;
  std::vector<GroupedTask> group;
  std::vector<Graph::Node> nodes;
  std::string why;  // the words of the first refused call
};

/// A graph that has a handle: the handle of its context, and its own.
using Made = std::pair<const void*, const void*>;

struct Captures {
  std::mutex mutex;  // guards what follows
  uint64_t last_number = 0;
  std::list<Capture> open;
  std::set<Made> graphs;
  uint64_t last_group = 0;
  std::map<const void*, TaskGroup> groups;  // by their handles
  std::list<Update> updates;
};

/// All captures of the process. The call needs no memory, since a context that is closed makes it.
Captures& AllCaptures();

// The following functions are called under the lock.

/// The capture that the stream is in; null: none.
Capture* FindOf(Captures& all, const Stream& stream);
/// The update that the stream's launches are for; null: none.
Update* FindUpdate(Captures& all, const Stream& stream);
Member& MemberOf(Capture& capture, const Stream& stream);
/// The stream whose capture has to end.
const void* OriginOf(const Capture& capture);
/// The first capture of the context whose default stream this is; null: none.
const Capture* FindBeside(const Captures& all, const Stream& stream);

/// Refuses what is no launch of a task that may be updated, and makes the update invalid.
Status RefuseInUpdate(Update& update, int code, std::string words);

/// The capture for a launch; null: *status says why there is none.
Capture* FindOpen(Captures& all, const Stream& stream, Status* status);

/// The refusal of a call on an invalid capture.
Status Invalidated(const Capture& capture);
/// A refusal that makes the capture invalid.
Status Invalidate(Capture& capture, int code, std::string words);
/// Refuses a use of a default stream while captures of its context are open, and invalidates them.
Status RefuseDefault(Captures& all, const Stream& stream);

inline constexpr const char* kClosing =
    "stream value is one that is being destroyed, expected it to outlive its capture";
inline Status RefuseClosed() { return Status(ACL_ERROR_RT_PARAM_INVALID, kClosing); }

}  // namespace openaclnn
