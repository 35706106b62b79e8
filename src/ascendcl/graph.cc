// SPDX-License-Identifier: Apache-2.0
// Graph: how captured tasks run again.
#include "ascendcl/graph.h"

#include <string>
#include <utility>

#include "ascendcl/check/race_report.h"

namespace openaclnn {

/// One run of one of the graph's tasks.
class Graph::ReplayTask : public Task {
 public:
  ReplayTask(std::shared_ptr<const Graph> graph, const Node& node)
      : graph_(std::move(graph)), task_(*node.task) {}
  Progress Run(Status* status) override {
    const Progress progress = task_.Run(status);
    task_.LookAtOperands();
    return progress;
  }
  const char* name() const override { return task_.name(); }
  std::string trace_arguments() const override { return task_.trace_arguments(); }

 private:
  const std::shared_ptr<const Graph> graph_;
  Task& task_;  // of the graph
};

void Graph::Add(Node&& node) { nodes_.push_back(std::move(node)); }

// What the tasks touch is told when they are launched again.
void Graph::Tell(const Stream& stream) const noexcept {
  for (const Node& node : nodes_) {
    WatchAccesses({node.call, stream.number(), stream.handle()}, node.accesses);
  }
}

uint64_t Graph::Execute(const std::shared_ptr<Graph>& self, const std::shared_ptr<Stream>& stream) {
  std::lock_guard lock(mutex_);
  std::vector<std::unique_ptr<Task>> tasks;
  tasks.reserve(nodes_.size() + 1);
  for (const Node& node : nodes_) tasks.push_back(std::make_unique<ReplayTask>(self, node));
  if (last_stream_.lock() != stream) done_->Await(done_, stream);
  const bool watching = WatchingRaces();
  if (watching) Tell(*stream);
  try {
    const uint64_t number = done_->RecordBehind(std::move(tasks), done_, stream);
    last_stream_ = stream;
    return number;
  } catch (...) {
    if (watching) ForgetAllTouches();  // what would have been touched is not known any more
    throw;
  }
}

}  // namespace openaclnn
