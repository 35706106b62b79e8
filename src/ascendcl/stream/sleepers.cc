// SPDX-License-Identifier: Apache-2.0
// Threads that sleep, and which of them are woken.
#include "ascendcl/stream/sleepers.h"

#include <sched.h>

#include <algorithm>
#include <array>

namespace openaclnn {

void Sleepers::Sleep(std::unique_lock<std::mutex>& lock, Sleeper& self) {
  self.processor_ = sched_getcpu();
  self.asleep_ = true;
  self.next_ = first_;
  first_ = &self;
  self.told_.wait(lock, [&self] { return !self.asleep_; });
}

Sleeper* Sleepers::TakeLocked(Where where) {
  Sleeper** link = &first_;
  if (where == Where::kElsewhere) {
    const int here = sched_getcpu();
    while (*link != nullptr && (*link)->processor_ == here) link = &(*link)->next_;
    if (*link == nullptr) link = &first_;
  }
  Sleeper* const taken = *link;
  *link = taken->next_;
  taken->asleep_ = false;
  return taken;
}

void Sleepers::Wake(std::unique_lock<std::mutex>& lock, uint64_t count, Where where) {
  std::array<Sleeper*, 64> taken;
  while (true) {
    size_t some = 0;
    while (some < std::min<uint64_t>(count, taken.size()) && first_ != nullptr) {
      taken[some++] = TakeLocked(where);
    }
    const bool more = first_ != nullptr && count > some;
    lock.unlock();
    for (size_t i = 0; i < some; ++i) taken[i]->told_.notify_one();
    if (!more) return;
    count -= some;
    lock.lock();
  }
}

}  // namespace openaclnn
