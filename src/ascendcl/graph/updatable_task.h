// SPDX-License-Identifier: Apache-2.0
// UpdatableTask: a graph's task that an update may replace by another one of the same call.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ascendcl/check/pinned_source.h"
#include "ascendcl/graph/program_memory.h"
#include "ascendcl/stream/task.h"
#include "ascendcl/watch/race.h"

namespace openaclnn {

/// Runs the task that is in force. A run that has begun ends with the task that it began with.
class UpdatableTask : public Task {
 public:
  /// A task, and the memory of the program that it keeps.
  struct Version {
    std::unique_ptr<Task> task;
    ProgramMemory memory;
  };
  /// The memory that launches touch, for the checks, which go by the order of the calls.
  struct Touched {
    std::vector<MemoryAccess> accesses;  // while races are watched
    PinnedRows written = {};             // in pinned memory
  };

  UpdatableTask(std::shared_ptr<Version> first, Touched touched)
      : version_(std::move(first)), touched_(std::move(touched)) {}

  /// Puts another version in force.
  void Replace(std::shared_ptr<Version> next) noexcept;
  std::shared_ptr<const Version> version() const;

  /// Sets what executions touch that are launched from now on.
  void set_touched(Touched&& touched) noexcept;
  Touched touched() const;

  Progress Run(Status* status) override;
  bool skipped_after_error() const override { return version()->task->skipped_after_error(); }
  bool repeatable() const override { return true; }
  void EachKept(SeeKept see, void* to) const override { version()->task->EachKept(see, to); }
  const char* name() const override { return version()->task->name(); }
  std::string trace_arguments() const override { return version()->task->trace_arguments(); }

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<Version> version_;
  Touched touched_;
};

}  // namespace openaclnn
