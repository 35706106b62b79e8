// SPDX-License-Identifier: Apache-2.0
// Task: one entry of a stream's queue.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ascendcl/memory/allocation.h"
#include "common/status.h"

namespace openaclnn {

class Stream;

class Task {
 public:
  /// kParked: the task waits for something other than a thread. It has arranged that Stream::Wake
  /// is called, and is run again then.
  enum class Progress { kDone, kParked };

  virtual ~Task() = default;

  /// Runs on a worker or on a thread that synchronises. A failure stays on the stream.
  virtual Progress Run(Status* status) = 0;

  /// Whether a stream that stops at its first error skips this task. Events are recorded and
  /// waited for all the same, so that nobody waits for ever.
  virtual bool skipped_after_error() const { return true; }

  /// In place of Run, when the stream is ended by force: releases whoever waits for this task.
  virtual void Drop() {}

  /// Whether it may be dropped even after it has run and parked, because it has started nothing.
  virtual bool only_waits() const { return false; }

  /// Whether Run may be called again once it has returned kDone, by one thread at a time: as a task
  /// of a graph is, which stays when it has run.
  virtual bool repeatable() const { return false; }
  /// Makes the task that runs in place of a repeatable one, on the stream where the graph runs.
  /// Null: the repeatable task runs itself.
  virtual std::unique_ptr<Task> ForRun(const std::shared_ptr<Stream>& /*stream*/) const {
    return nullptr;
  }
  /// Shows what a repeatable task keeps; one thread at a time.
  virtual void EachKept(SeeKept, void* /*to*/) const {}

  /// The condition that the task waits for, besides a thread that runs it: one of the following
  /// two.
  struct Awaited {
    std::weak_ptr<Stream> stream;  // that this one has done `task` tasks
    uint64_t task = 0;
    // Or, if it is set, that the thread which serves the stream has run a callback.
    std::shared_ptr<const std::atomic<bool>> called;
  };
  /// Null if nothing must. The task does not change it.
  virtual const Awaited* awaited() const { return nullptr; }
  /// For the log: until when a parked task waits, in words. Empty: until it is done.
  virtual std::string waits_until() const { return {}; }
  /// Those words end in this where the end of the stream by force drops the wait.
  static constexpr const char* kDroppedByForce = ", aclrtDestroyStreamForce would drop the wait";

  /// For a trace: what the task is, and more about it as members of a JSON object.
  virtual const char* name() const { return "task"; }
  virtual std::string trace_arguments() const { return {}; }
};

}  // namespace openaclnn
