// SPDX-License-Identifier: Apache-2.0
// Graph: how captured tasks run again.
#include "ascendcl/graph/graph.h"

#include <algorithm>
#include <new>
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
    if (WatchingRaces() && node.written.first != nullptr) write_.emplace(node.written);
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

// Whole granules are mapped and unmapped: operands that share them are one part.
void Graph::OfProgram::Add(const Kept& kept) {
  const AddressRange* const range = kept.allocation.range.get();
  if (range == nullptr) return;
  if (range->registered()) {
    registered.insert(&kept.allocation);
    return;
  }
  constexpr uint64_t kUnit = AddressRange::kGranularity;
  const std::byte* const origin = range->block().host;
  const auto offset = static_cast<uint64_t>(kept.host - origin);
  const uint64_t first = offset / kUnit, end = (offset + kept.bytes + kUnit - 1) / kUnit;
  parts.emplace(origin + first * kUnit, origin + end * kUnit);
}

const Graph::Node& Graph::Add(Node&& node) {
  OfProgram found;
  const auto add = [](void* to, const Kept& kept) noexcept {
    auto& all = *static_cast<OfProgram*>(to);
    try {
      all.Add(kept);
    } catch (const std::bad_alloc&) {
      all.complete = false;
    }
  };
  node.task->EachKept(add, &found);
  if (!found.complete) throw std::bad_alloc();
  nodes_.push_back(std::move(node));
  of_program_.parts.merge(found.parts);  // which needs no memory
  of_program_.registered.merge(found.registered);
  return nodes_.back();
}

bool Graph::Keeps(const std::byte* host, uint64_t bytes) const {
  const auto& parts = of_program_.parts;
  return std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
    return part.first < host + bytes && host < part.second;
  });
}

Status Graph::CheckRegistered() const {
  for (const Allocation* const allocation : of_program_.registered) {
    if (Memory::Get().IsLive(*allocation)) continue;
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat("modelRI memory is in part what was registered at ",
                         static_cast<const void*>(allocation->block.host),
                         ", expected aclrtHostUnregister of it after the last execution"));
  }
  return {};
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
    if (watching) WatchAccesses({node.call, stream->number(), stream->handle()}, node.accesses);
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
