// SPDX-License-Identifier: Apache-2.0
// Running task: what reports say who it was, and where they leave their words.
#pragma once

#include <string>

namespace openaclnn {

/// A report's line for whoever synchronises, as RecordMessage takes it; empty if there is none.
struct TaskFinding {
  const char* prefix = nullptr;
  std::string line;
};

/// The calling thread runs and ends a task in this scope.
class RunningTaskScope {
 public:
  RunningTaskScope(const char* name, TaskFinding* finding) : name_(name), finding_(finding) {
    t_running = this;
  }
  RunningTaskScope(const RunningTaskScope&) = delete;
  ~RunningTaskScope() { t_running = nullptr; }

 private:
  friend const char* RunningTask();
  friend TaskFinding* FindingOfRunningTask();
  static inline constinit thread_local const RunningTaskScope* t_running = nullptr;

  const char* const name_;
  TaskFinding* const finding_;
};

/// Name of the task that the calling thread runs or ends; null outside of one.
inline const char* RunningTask() {
  const RunningTaskScope* const running = RunningTaskScope::t_running;
  return running != nullptr ? running->name_ : nullptr;
}

/// Where the first thing that is found in that task is kept; null outside of one.
inline TaskFinding* FindingOfRunningTask() {
  const RunningTaskScope* const running = RunningTaskScope::t_running;
  return running != nullptr ? running->finding_ : nullptr;
}

}  // namespace openaclnn
