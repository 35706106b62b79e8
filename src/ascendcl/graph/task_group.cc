// SPDX-License-Identifier: Apache-2.0
// Task groups: how they begin and end, and how an update replaces their tasks.
#include "ascendcl/graph/task_group.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace openaclnn {
namespace {

using Version = UpdatableTask::Version;
using Touched = UpdatableTask::Touched;

constexpr int kState = ACL_ERROR_STREAM_TASK_GROUP_STATUS;

/// Replaces the tasks of a group, in the order of a stream.
class UpdateTask : public Task {
 public:
  /// A task of the group, and what is to run in its place.
  using Pair = std::pair<UpdatableTask*, std::shared_ptr<Version>>;

  UpdateTask(std::shared_ptr<Graph> graph, std::vector<Pair>&& pairs)
      : graph_(std::move(graph)), pairs_(std::move(pairs)) {}

  Progress Run(Status*) override {
    for (auto& [task, version] : pairs_) task->Replace(std::move(version));
    return Progress::kDone;
  }
  const char* name() const override { return "update of tasks"; }

 private:
  const std::shared_ptr<Graph> graph_;  // which owns the tasks
  std::vector<Pair> pairs_;
};

/// A number that no handle of the runtime's table is. It is looked up and never dereferenced.
void* NextHandle(Captures& all) {
  constexpr uintptr_t kTag = 0x67726f7570000000;            // "group"
  return reinterpret_cast<void*>(kTag + ++all.last_group);  // NOLINT(performance-no-int-to-ptr)
}

/// The capture of the stream; null: *status says why there is none.
Capture* FindCapture(Captures& all, const Stream& stream, Status* status) {
  if (stream.captured()) return FindOpen(all, stream, status);
  *status = Status(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                   "stream capture is none, expected aclmdlRICaptureBegin of this stream before");
  return nullptr;
}

/// The group of a graph that is ready; null: *status says why there is none.
const TaskGroup* FindGroup(Captures& all, const void* handle, std::shared_ptr<Graph>* graph,
                           Status* status) {
  const auto found = all.groups.find(handle);
  if (found != all.groups.end()) *graph = found->second.graph.lock();
  if (*graph == nullptr) {
    *status = Status(ACL_ERROR_RT_INVALID_HANDLE,
                     Concat("handle value is ", handle,
                            ", expected a task group of a live model running instance"));
    return nullptr;
  }
  if (!(*graph)->sealed()) {
    *status = Status(ACL_ERROR_RT_MODEL_CAPTURED,
                     "handle model is being captured, expected aclmdlRICaptureEnd before");
    return nullptr;
  }
  return &found->second;
}

/// Refuses an update that has not replaced each task by one of the same call.
Status CheckLaunches(const Update& update) {
  constexpr int kFailed = ACL_ERROR_RT_MODEL_UPDATE_FAILED;
  if (!update.why.empty()) {
    return Status(kFailed, Concat("stream update is invalid since a call before was refused (",
                                  update.why, "), expected an update without that call"));
  }
  if (update.nodes.size() != update.group.size()) {
    return Status(kFailed, Concat("stream update has ", update.nodes.size(), " tasks, expected ",
                                  update.group.size(), " as the group has"));
  }
  for (size_t i = 0; i < update.nodes.size(); ++i) {
    const std::string_view given = update.nodes[i].call, wanted = update.group[i].call;
    if (given == wanted) continue;
    return Status(kFailed, Concat("stream update has a task of ", given, " in place ", i,
                                  ", expected one of ", wanted, " as in the group"));
  }
  return {};
}

std::shared_ptr<Version> VersionOf(std::unique_ptr<Task>&& task) {
  auto version = std::make_shared<Version>();
  version->memory.Add(*task);
  version->task = std::move(task);  // last: if something throws, the task is still the caller's
  return version;
}

}  // namespace

Status CheckGroupsEnded(const Capture& capture) {
  for (const auto& [number, member] : capture.members) {
    if (!member.group) continue;
    return Status(kState,
                  "stream task group has not ended, expected aclmdlRICaptureTaskGrpEnd before");
  }
  return {};
}

std::string CannotBeUpdated(const Graph::Node& node) {
  return Concat("task of ", node.call,
                " cannot be updated, expected operators, copies and fills alone in a task group");
}

const Graph::Node& AddToGroup(Graph& graph, std::vector<GroupedTask>* group, Graph::Node&& node) {
  group->reserve(group->size() + 1);
  Touched touched = {node.accesses, node.written};
  auto version = std::make_shared<Version>();
  version->memory.Add(*node.task);
  auto task = std::make_unique<UpdatableTask>(version, std::move(touched));
  node.updatable = task.get();
  version->task = std::exchange(node.task, std::move(task));
  try {
    const Graph::Node& kept = graph.Add(std::move(node));
    group->push_back({kept.updatable, kept.call});
    return kept;
  } catch (...) {
    node.task = std::move(version->task);
    throw;
  }
}

Status KeepForUpdate(Update& update, Graph::Node&& node) {
  if (!node.task->repeatable() || node.of_program) {
    return RefuseInUpdate(update, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, CannotBeUpdated(node));
  }
  update.nodes.push_back(std::move(node));
  return {};
}

void LeaveUpdate(Captures& all, const Stream& stream, std::list<Update>* left) noexcept {
  const auto update = std::find_if(all.updates.begin(), all.updates.end(), [&](const Update& each) {
    return each.stream->number() == stream.number();
  });
  if (update == all.updates.end()) return;
  update->stream->set_captured(false);
  left->splice(left->end(), all.updates, update);
}

Status BeginTaskGroup(const Stream& stream) {
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  Status status;
  Capture* const capture = FindCapture(all, stream, &status);
  if (capture == nullptr) return status;
  std::optional<std::vector<GroupedTask>>& group = MemberOf(*capture, stream).group;
  if (group) {
    return Invalidate(*capture, kState,
                      "stream task group has begun before, expected its end first");
  }
  group.emplace();
  return status;
}

Status EndTaskGroup(const Stream& stream, void** handle) {
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  Status status;
  Capture* const capture = FindCapture(all, stream, &status);
  if (capture == nullptr) return status;
  std::optional<std::vector<GroupedTask>>& group = MemberOf(*capture, stream).group;
  if (!group) {
    return Invalidate(*capture, kState,
                      "stream task group is none, expected aclmdlRICaptureTaskGrpBegin before");
  }
  std::erase_if(all.groups, [](const auto& entry) { return entry.second.graph.expired(); });
  void* const made = NextHandle(all);
  TaskGroup& entry = all.groups[made];  // last of what needs memory
  entry.graph = capture->graph;
  entry.tasks = std::move(*group);
  group.reset();
  *handle = made;
  return status;
}

Status BeginTaskUpdate(const std::shared_ptr<Stream>& stream, const void* group) {
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  Status status;
  std::shared_ptr<Graph> graph;
  if (stream->captured()) {
    Capture* const capture = FindOpen(all, *stream, &status);
    return capture == nullptr ? status
                              : Invalidate(*capture, ACL_ERROR_RT_STREAM_CAPTURED,
                                           "stream use is to update tasks, expected launches alone "
                                           "while it is captured");
  }
  const TaskGroup* const found = FindGroup(all, group, &graph, &status);
  if (found == nullptr) return status;
  if (stream->handle() == nullptr) {
    return Status(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                  "stream value is the default stream, expected another to update tasks");
  }
  if (stream->closed()) return RefuseClosed();
  if (stream->context() != graph->context()) {
    return Status(ACL_ERROR_RT_STREAM_CONTEXT,
                  "stream context is not that of the task group, expected a stream of the context "
                  "that it was captured in");
  }
  all.updates.push_back({stream, std::move(graph), found->tasks, {}, {}});
  stream->set_captured(true);
  return status;
}

Status EndTaskUpdate(const std::shared_ptr<Stream>& stream) {
  std::list<Update> ended;  // destroyed without the lock
  {
    Captures& all = AllCaptures();
    std::lock_guard lock(all.mutex);
    if (FindUpdate(all, *stream) == nullptr) {
      return Status(kState,
                    "stream update is none, expected aclmdlRICaptureTaskUpdateBegin of it before");
    }
    LeaveUpdate(all, *stream, &ended);
  }
  Update& update = ended.front();
  Status status = CheckLaunches(update);
  if (!status.ok()) return status;
  std::vector<UpdateTask::Pair> pairs;
  pairs.reserve(update.nodes.size());
  for (size_t i = 0; i < update.nodes.size(); ++i) {
    pairs.emplace_back(update.group[i].task, VersionOf(std::move(update.nodes[i].task)));
  }
  stream->Enqueue(std::make_unique<UpdateTask>(update.graph, std::move(pairs)));
  for (size_t i = 0; i < update.nodes.size(); ++i) {
    Graph::Node& node = update.nodes[i];
    update.group[i].task->set_touched({std::move(node.accesses), node.written});
  }
  return status;
}

}  // namespace openaclnn
