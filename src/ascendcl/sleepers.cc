// SPDX-License-Identifier: Apache-2.0
// Threads that sleep, and where they wake.
#include "ascendcl/sleepers.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace openaclnn {
namespace {

/// Runs the thread, 0 for the caller, on the processor no more or again; false where it cannot be.
/// Programs that set which processors a thread may use keep what they set, apart from that one.
bool SetAllowed(int32_t thread, int processor, bool allowed) {
  cpu_set_t processors;
  if (sched_getaffinity(thread, sizeof(processors), &processors) != 0) return false;
  if (allowed) {
    CPU_SET(processor, &processors);
  } else {
    CPU_CLR(processor, &processors);
    if (CPU_COUNT(&processors) == 0) return false;
  }
  return sched_setaffinity(thread, sizeof(processors), &processors) == 0;
}

}  // namespace

void Sleepers::Sleep(std::unique_lock<std::mutex>& lock, Sleeper& self) {
  self.thread_ = gettid();
  self.processor_ = sched_getcpu();
  self.asleep_ = true;
  self.next_ = first_;
  first_ = &self;
  self.told_.wait(lock, [&self] { return !self.asleep_; });
  if (self.forbidden_ >= 0) SetAllowed(0, self.forbidden_, true);
  self.forbidden_ = -1;
}

Sleeper* Sleepers::TakeLocked(Where where) {
  const int here = where == Where::kElsewhere ? sched_getcpu() : -1;
  Sleeper** link = &first_;
  while (*link != nullptr && (*link)->processor_ == here) link = &(*link)->next_;
  if (*link == nullptr) link = &first_;
  Sleeper* const taken = *link;
  *link = taken->next_;
  taken->asleep_ = false;
  if (here >= 0 && taken->processor_ == here && SetAllowed(taken->thread_, here, false)) {
    taken->forbidden_ = here;
  }
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
