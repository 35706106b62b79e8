// SPDX-License-Identifier: Apache-2.0
// Sleepers: threads that sleep until there is work, and are woken away from who wakes them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace openaclnn {

/// A thread's place to sleep in. It outlives the thread: who woke it may tell it late.
class Sleeper {
 private:
  friend class Sleepers;
  std::condition_variable told_;
  bool asleep_ = false;
  int processor_ = -1;  // that it last ran on
  Sleeper* next_ = nullptr;
};

/// Which threads are woken first. Linux wakes a thread where it last ran, even if its waker
/// computes there, when the processors were busy of late: it then waits for milliseconds while
/// another processor idles. With two of them a product of matrices that takes 2.2 ms took 4 in one
/// call of four. Elsewhere costs more where processors sleep deeply: on a virtual machine that
/// idled for 20 ms the waker pays 25 us, and the woken one comes after 100.
///
/// To take the waker's processor from the woken thread's mask, and put it back, helps where all
/// sleep there too; but it is not the library's to set, a program may set it at the same time, and
/// filters of system calls may end the process.
enum class Where { kAnywhere, kElsewhere };

/// All functions are called under one lock, the owner's.
class Sleepers {
 public:
  /// Returns when woken; releases the lock meanwhile.
  void Sleep(std::unique_lock<std::mutex>& lock, Sleeper& self);

  /// Wakes up to `count`; kElsewhere: first those that did not last run where the caller does.
  /// Releases the lock before it tells them, since they need it, and returns without it.
  void Wake(std::unique_lock<std::mutex>& lock, uint64_t count, Where where);

 private:
  Sleeper* TakeLocked(Where where);

  Sleeper* first_ = nullptr;
};

}  // namespace openaclnn
