// SPDX-License-Identifier: Apache-2.0
// Threads of the libraries, with stacks of a size of their own.
#pragma once

#include <pthread.h>

#include <functional>
#include <utility>

namespace openaclnn {

/// A thread whose stack has at least kThreadStack (stack.h): what std::thread makes has as much as
/// `ulimit -s` said when the program began, which may be too little for an operator. It is joined
/// or detached before this ends.
class Thread {
 public:
  Thread() = default;
  Thread(Thread&& other) noexcept
      : thread_(other.thread_), joinable_(std::exchange(other.joinable_, false)) {}
  Thread& operator=(Thread&& other) noexcept {
    std::swap(thread_, other.thread_);
    std::swap(joinable_, other.joinable_);
    return *this;
  }

  /// Runs main() on a new thread. Returns 0, or why there is none, as errno would say it; throws
  /// std::bad_alloc.
  int Start(std::function<void()> main);

  bool joinable() const { return joinable_; }
  void Join();
  void Detach();

 private:
  pthread_t thread_ = {};
  bool joinable_ = false;
};

}  // namespace openaclnn
