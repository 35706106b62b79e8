// SPDX-License-Identifier: Apache-2.0
// Graph: tasks that were captured, to be run any number of times; the API's aclmdlRI.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ascendcl/check/pinned_source.h"
#include "ascendcl/graph/program_memory.h"
#include "ascendcl/graph/updatable_task.h"
#include "ascendcl/process/handles.h"
#include "ascendcl/stream/event.h"
#include "ascendcl/stream/stream.h"
#include "ascendcl/stream/task.h"
#include "ascendcl/watch/race.h"

namespace openaclnn {

/// The tasks are in the order in which the program launched them: whatever streams and events they
/// were captured from, that order respects every edge between them. They keep what they pin until
/// the graph and its last execution are gone.
class Graph {
 public:
  static constexpr Kind kKind = Kind::kGraph;
  static constexpr const char* kNoun = "model running instance";

  struct Node {
    std::unique_ptr<Task> task;          // a repeatable one
    const char* call;                    // what launched it; outlives the process's use of it
    std::vector<MemoryAccess> accesses;  // while races are watched
    PinnedRows written = {};             // in pinned memory
    bool of_program = false;             // a function of it, which may wait for anything
    UpdatableTask* updatable = nullptr;  // `task`, if it is in a group; it has what is touched
  };

  /// `context`: the handle of the context whose streams are captured and may run it.
  explicit Graph(const void* context) : context_(context) {}
  Graph(const Graph&) = delete;

  const void* context() const { return context_; }

  std::string name();
  void set_name(std::string name);

  /// While it is captured; gives what it keeps. If it throws, the node is still the caller's.
  const Node& Add(Node&& node);
  /// Whether the tasks keep some of these bytes of reserved addresses, which the host finds there.
  bool Keeps(const std::byte* host, uint64_t bytes) const;
  /// Nothing is added any more.
  void Seal() { sealed_.store(true, std::memory_order_release); }
  bool sealed() const { return sealed_.load(std::memory_order_acquire); }

  /// Refuses where a task uses memory of the host that is not registered any more: it may be gone.
  Status CheckRegistered() const;

  /// Enqueues all tasks, or none. Executions of one graph come one after another, in the order of
  /// these calls, on whatever streams: they share the operands and workspaces. Returns the number
  /// of the last task that was enqueued.
  uint64_t Execute(const std::shared_ptr<Graph>& self, const std::shared_ptr<Stream>& stream);

 private:
  class ReplayTask;

  /// The last execution on a stream.
  struct Run {
    std::weak_ptr<Stream> stream;
    std::shared_ptr<Event> done;  // recorded behind it
  };

  /// One run of each node; what the tasks touch is told as if they were launched now.
  std::vector<std::unique_ptr<Task>> TasksFor(const std::shared_ptr<Graph>& self,
                                              const std::shared_ptr<Stream>& stream) const;
  void TellFreed(const Stream& stream) const noexcept;
  /// Lets the stream wait for the executions on others; what to record behind this one.
  std::shared_ptr<Event> Follow(const std::shared_ptr<Stream>& stream);

  const void* const context_;
  std::atomic<bool> sealed_{false};
  std::vector<Node> nodes_;  // not changed once it is sealed
  ProgramMemory memory_;     // kept by those that are in no group; as nodes_
  std::mutex mutex_;         // guards what follows
  std::vector<Run> runs_;    // those that may still be under way
  std::string name_;
};

}  // namespace openaclnn
