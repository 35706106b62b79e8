// SPDX-License-Identifier: Apache-2.0
// The end of threads, for what they leave behind.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace openaclnn {

/// A function that is called when a thread ends which asked for it. By a thread-specific key: a
/// thread_local object would end on the main thread too, before the program's static destructors.
/// The program has few keys, and may have used them up.
class ThreadEnd {
 public:
  using Function = void (*)(void* value);
  explicit constexpr ThreadEnd(Function function) : function_(function) {}
  ThreadEnd(const ThreadEnd&) = delete;

  /// Has the function called for the calling thread; false if it will not be, for want of a key or
  /// of memory. `value` is not null.
  bool Watch(const void* value) {
    int64_t key = key_.load(std::memory_order_acquire);
    if (key < 0) {
      pthread_key_t made{};
      if (pthread_key_create(&made, function_) != 0) return false;
      // Without a lock, which a child of fork might find held.
      if (key_.compare_exchange_strong(key, made, std::memory_order_acq_rel)) {
        key = made;
      } else {
        pthread_key_delete(made);
      }
    }
    return pthread_setspecific(static_cast<pthread_key_t>(key), value) == 0;
  }

 private:
  const Function function_;
  std::atomic<int64_t> key_{-1};  // negative: there is none yet
};

}  // namespace openaclnn
