// SPDX-License-Identifier: Apache-2.0
// Host threads: one more whenever a function waits and all of them are busy; few idle ones stay.
#include "ascendcl/stream/host_threads.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <list>
#include <mutex>
#include <new>
#include <utility>

#include "acl/acl.h"
#include "ascendcl/process/signals.h"
#include "common/thread.h"
#include "common/uncancelled.h"

namespace openaclnn {
namespace {

class HostThreads {
 public:
  static HostThreads& Get() {
    static auto* threads = new HostThreads;  // threads may outlive static destructors at exit
    return *threads;
  }

  Status Run(std::function<void()> function) {
    std::lock_guard lock(mutex_);
    functions_.push_back(std::move(function));
    if (!GrowLocked()) {
      functions_.pop_back();
      return Status(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                    "thread for host functions cannot be started, expected one");
    }
    arrived_.notify_one();
    return {};
  }

  void Stop() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    // Again for those that came meanwhile.
    while (!threads_.empty() || ended_.joinable()) {
      Threads threads = std::move(threads_);
      threads_.clear();
      Thread ended = std::move(ended_);
      arrived_.notify_all();
      lock.unlock();
      for (Thread& thread : threads) thread.Join();
      if (ended.joinable()) ended.Join();
      lock.lock();
    }
    stopping_ = false;
  }

 private:
  using Threads = std::list<Thread>;

  // Whether there is a thread for each function that waits: those that run may wait for it.
  bool GrowLocked() noexcept {
    if (functions_.size() <= num_idle_ + num_starting_) return true;
    try {
      threads_.emplace_back();
    } catch (const std::bad_alloc&) {
      return false;
    }
    const auto self = std::prev(threads_.end());
    const SignalMask inherited(SignalMask::OfRuntime());
    if (!Start(self)) {
      threads_.erase(self);
      return false;
    }
    ++num_starting_;
    return true;
  }

  bool Start(Threads::iterator self) noexcept try {
    return self->Start([this, self] { Main(self); }) == 0;
  } catch (const std::bad_alloc&) {
    return false;
  }

  void Main(Threads::iterator self) try {
    const UncancelledCall call;
    std::unique_lock lock(mutex_);
    --num_starting_;
    while (true) {
      RunAllLocked(lock);
      if (stopping_) break;
      ++num_idle_;
      const bool late = arrived_.wait_for(lock, kPatience) == std::cv_status::timeout;
      --num_idle_;
      if (late && functions_.empty() && !stopping_ && num_idle_ >= kKept) {
        EndLocked(lock, self);
        return;
      }
    }
  } catch (...) {  // a function has called pthread_exit, or was cancelled
    std::unique_lock lock(mutex_);
    if (!stopping_) EndLocked(lock, self);
    throw;
  }

  void RunAllLocked(std::unique_lock<std::mutex>& lock) {
    while (!functions_.empty()) {
      std::function<void()> function = std::move(functions_.front());
      functions_.pop_front();
      lock.unlock();
      function();
      function = nullptr;  // with what it owns
      lock.lock();
    }
  }

  // Each thread that ends joins the one that ended before it; Stop joins the last.
  void EndLocked(std::unique_lock<std::mutex>& lock, Threads::iterator self) {
    Thread before = std::exchange(ended_, std::move(*self));
    threads_.erase(self);
    lock.unlock();
    if (before.joinable()) before.Join();
  }

  static constexpr size_t kKept = 4;  // idle threads that stay
  static constexpr std::chrono::milliseconds kPatience{100};

  std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::deque<std::function<void()>> functions_;
  Threads threads_;
  Thread ended_;  // the last one that ended of itself
  size_t num_idle_ = 0;
  size_t num_starting_ = 0;  // on their way to their first function
  bool stopping_ = false;
};

}  // namespace

Status RunOnHostThread(std::function<void()> function) {
  return HostThreads::Get().Run(std::move(function));
}

void StopHostThreads() { HostThreads::Get().Stop(); }

}  // namespace openaclnn
