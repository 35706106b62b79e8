// SPDX-License-Identifier: Apache-2.0
// Graph races: which of a graph's own tasks nothing orders.
#pragma once

#include <vector>

#include "ascendcl/watch/race_watch.h"
#include "ascendcl/watch/vector_clock.h"

namespace openaclnn {

/// Executions run a graph's tasks in one order, so that these are looked for as it is captured.
class GraphRaces {
 public:
  /// A task is captured that comes behind `before` of the graph's tasks; while races are watched
  /// its races with them.
  std::vector<Race> Add(const Caller& caller, const VectorClock& before,
                        const std::vector<MemoryAccess>& accesses) noexcept try {
    if (!WatchingRaces()) return {};
    detector_.Await(caller.stream, {before, {}});
    return detector_.Launch(caller, accesses);
  } catch (...) {
    Forget();  // without memory nothing is known of what came before
    return {};
  }
  /// Nothing is said of tasks that were added before.
  void Forget() noexcept { detector_ = {}; }

 private:
  RaceDetector detector_;
};

}  // namespace openaclnn
