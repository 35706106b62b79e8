// SPDX-License-Identifier: Apache-2.0
// Running task: what reports say who it was.
#pragma once

namespace openaclnn {

inline constinit thread_local const char* t_running_task = nullptr;

/// Name of the task that the calling thread runs or ends; null outside of one.
inline const char* RunningTask() { return t_running_task; }

/// The calling thread runs and ends a task in this scope.
class RunningTaskScope {
 public:
  explicit RunningTaskScope(const char* name) { t_running_task = name; }
  RunningTaskScope(const RunningTaskScope&) = delete;
  ~RunningTaskScope() { t_running_task = nullptr; }
};

}  // namespace openaclnn
