// SPDX-License-Identifier: Apache-2.0
// Graph: how captured tasks run again.
#include "ascendcl/graph/graph.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "ascendcl/check/freed_operand.h"
#include "ascendcl/check/race_report.h"
#include "ascendcl/memory/allocation.h"
#include "ascendcl/memory/memory.h"

namespace openaclnn {

/// One run of one of the graph's tasks.
class Graph::ReplayTask : public Task {
 public:
  ReplayTask(std::shared_ptr<const Graph> graph, const Node& node)
      : graph_(std::move(graph)), task_(*node.task) {
    if (!WatchingRaces()) return;
    const PinnedRows written = node.updatable ? node.updatable->touched().written : node.written;
    if (written.first != nullptr) write_.emplace(written);
  }
  Progress Run(Status* status) override {
    const Progress progress = task_.Run(status);
    const auto note = [](void*, const Kept& kept) noexcept { Memory::NoteUse(kept.allocation); };
    task_.EachKept(note, nullptr);
    return progress;
  }
  bool skipped_after_error() const override { return task_.skipped_after_error(); }
  const char* name() const override { return task_.name(); }
  std::string trace_arguments() const override { return task_.trace_arguments(); }

 private:
  const std::shared_ptr<const Graph> graph_;
  Task& task_;  // of the graph
  std::optional<PinnedWrite> write_;
};

const Graph::Node& Graph::Add(Node&& node) {
  ProgramMemory found;
  if (node.updatable == nullptr) found.Add(*node.task);
  nodes_.push_back(std::move(node));
  memory_.Take(std::move(found));
  return nodes_.back();
}

bool Graph::Keeps(const std::byte* host, uint64_t bytes) const {
  return memory_.Has(host, bytes) || std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& n) {
           return n.updatable != nullptr && n.updatable->version()->memory.Has(host, bytes);
         });
}

Status Graph::CheckRegistered() const {
  Status status = memory_.CheckRegistered();
  for (const Node& node : nodes_) {
    if (!status.ok()) return status;
    if (node.updatable != nullptr) status = node.updatable->version()->memory.CheckRegistered();
  }
  return status;
}

std::string Graph::name() {
  std::lock_guard lock(mutex_);
  return name_;
}

void Graph::set_name(std::string name) {
  std::lock_guard lock(mutex_);
  name_.swap(name);
}

// Their pins keep what they use, which no device does.
void Graph::TellFreed(const Stream& stream) const noexcept {
  for (const Node& node : nodes_) {
    FreedByProgram found = {{node.call, stream.number(), stream.handle()}};
    node.task->EachKept(FreedByProgram::See, &found);
  }
}

// One after another: a function of the host stands between the tasks before it and behind it.
std::vector<std::unique_ptr<Task>> Graph::TasksFor(const std::shared_ptr<Graph>& self,
                                                   const std::shared_ptr<Stream>& stream) const {
  std::vector<std::unique_ptr<Task>> tasks;
  tasks.reserve(nodes_.size() + 1);
  const bool watching = WatchingRaces();
  for (const Node& node : nodes_) {
    if (watching) {
      const Caller caller = {node.call, stream->number(), stream->handle()};
      WatchAccesses(caller, node.updatable ? node.updatable->touched().accesses : node.accesses);
    }
    std::unique_ptr<Task> task = node.task->ForRun(stream);
    if (task == nullptr) task = std::make_unique<ReplayTask>(self, node);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

// Behind all of them, not only the last: where a stream's tasks are dropped, what they waited for
// may still run.
std::shared_ptr<Event> Graph::Follow(const std::shared_ptr<Stream>& stream) {
  std::shared_ptr<Event> own;
  for (const Run& run : runs_) {
    if (run.stream.lock() == stream) {
      own = run.done;
    } else {
      run.done->Await(run.done, stream);
    }
  }
  std::erase_if(runs_, [&](const Run& run) { return run.done != own && run.done->Look().reached; });
  if (own == nullptr) {
    own = std::make_shared<Event>(ACL_EVENT_SYNC, false);
    runs_.push_back({stream, own});
  }
  return own;
}

uint64_t Graph::Execute(const std::shared_ptr<Graph>& self, const std::shared_ptr<Stream>& stream) {
  std::lock_guard lock(mutex_);
  const std::shared_ptr<Event> done = Follow(stream);
  if (WatchingRaces()) TellFreed(*stream);
  try {
    return done->RecordBehind(TasksFor(self, stream), done, stream);
  } catch (...) {
    // The accesses that this launch would have made are unknown now.
    if (WatchingRaces()) ForgetAllTouches();
    throw;
  }
}

}  // namespace openaclnn
