// SPDX-License-Identifier: Apache-2.0
// Uncancelled: what pthread_cancel does not end half-way, and where in it a thread may end.
#pragma once

#include <pthread.h>

namespace openaclnn {

/// While it lives a cancellation of the thread waits: it would unwind what may not be unwound, and
/// leave locks of others, as the loader's. Every call of the API lives in one.
class Uncancelled {
 public:
  Uncancelled() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
    if (s_depth++ == 0) s_programs = before_;
  }
  Uncancelled(const Uncancelled&) = delete;
  ~Uncancelled() {
    --s_depth;
    pthread_setcancelstate(before_, nullptr);
  }

 private:
  friend class Cancellable;
  static inline constinit thread_local int s_depth = 0;
  static inline constinit thread_local int s_programs = PTHREAD_CANCEL_ENABLE;

  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// In one Uncancelled: what the program itself decides about, its functions and the waits of its
/// calls. In two nothing: the inner one is there since nothing may end in it.
class Cancellable {
 public:
  Cancellable() : alone_(Uncancelled::s_depth == 1) {
    if (alone_) pthread_setcancelstate(Uncancelled::s_programs, nullptr);
  }
  Cancellable(const Cancellable&) = delete;
  ~Cancellable() {
    if (alone_) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  }

 private:
  const bool alone_;
};

}  // namespace openaclnn
