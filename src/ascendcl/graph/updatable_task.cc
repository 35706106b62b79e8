// SPDX-License-Identifier: Apache-2.0
// UpdatableTask: which task runs, and how another takes its place.
#include "ascendcl/graph/updatable_task.h"

namespace openaclnn {

// The task that was replaced is destroyed without the lock, by whoever lets go of it last.
void UpdatableTask::Replace(std::shared_ptr<Version> next) noexcept {
  std::lock_guard lock(mutex_);
  version_.swap(next);
}

std::shared_ptr<const UpdatableTask::Version> UpdatableTask::version() const {
  std::lock_guard lock(mutex_);
  return version_;
}

void UpdatableTask::set_touched(Touched&& touched) noexcept {
  std::lock_guard lock(mutex_);
  std::swap(touched_, touched);
}

UpdatableTask::Touched UpdatableTask::touched() const {
  std::lock_guard lock(mutex_);
  return touched_;
}

Task::Progress UpdatableTask::Run(Status* status) {
  const std::shared_ptr<const Version> running = version();
  return running->task->Run(status);
}

}  // namespace openaclnn
