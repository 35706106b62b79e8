// SPDX-License-Identifier: Apache-2.0
// Behind a lock: what a check knows of the whole process.
#pragma once

#include <mutex>

#include "common/lasting.h"

namespace openaclnn {

/// The process's one `State`, behind a lock that is held while nothing else is called.
template <class State>
class BehindLock {
 public:
  /// Runs the body with the state. A check must not fail what it checks: where memory is short,
  /// what the state knew until now is forgotten.
  template <class Body>
  static void Tell(Body&& body) noexcept {
    auto& all = Lasting<BehindLock>();
    std::lock_guard lock(all.mutex_);
    try {
      body(all.state_);
    } catch (...) {
      all.state_.ForgetAll();
    }
  }

 private:
  std::mutex mutex_;
  State state_;  // guarded by it
};

}  // namespace openaclnn
