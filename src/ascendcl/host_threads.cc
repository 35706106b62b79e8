// SPDX-License-Identifier: Apache-2.0
// Host threads: one more whenever a function waits and all of them are busy.
#include "ascendcl/host_threads.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"

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
    GrowLocked();
    if (num_running_ == 0) {
      functions_.pop_back();
      return Status(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                    "thread for host functions cannot be started, expected one");
    }
    arrived_.notify_one();
    return {};
  }

  void Stop() {
    std::vector<std::thread> threads;
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      threads.swap(threads_);
      arrived_.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
    std::lock_guard lock(mutex_);
    stopping_ = false;
  }

 private:
  // One at a time: short functions are done before the next thread has started. The new one looks
  // whether there is need of another.
  void GrowLocked() {
    if (starting_ || functions_.size() <= num_idle_) return;
    try {
      threads_.emplace_back([this] { Main(); });
    } catch (const std::system_error&) {
      return;  // those that there are have to do
    }
    starting_ = true;
    ++num_running_;
  }

  void Main() {
    std::unique_lock lock(mutex_);
    starting_ = false;
    while (true) {
      while (!functions_.empty()) {
        std::function<void()> function = std::move(functions_.front());
        functions_.pop_front();
        GrowLocked();
        lock.unlock();
        function();
        function = nullptr;  // with what it owns
        lock.lock();
      }
      if (stopping_) break;
      ++num_idle_;
      arrived_.wait(lock);
      --num_idle_;
    }
    --num_running_;
  }

  std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::deque<std::function<void()>> functions_;
  std::vector<std::thread> threads_;
  size_t num_running_ = 0;
  size_t num_idle_ = 0;
  bool starting_ = false;  // a thread is on its way to its first function
  bool stopping_ = false;
};

}  // namespace

Status RunOnHostThread(std::function<void()> function) {
  return HostThreads::Get().Run(std::move(function));
}

void StopHostThreads() { HostThreads::Get().Stop(); }

}  // namespace openaclnn
