// SPDX-License-Identifier: Apache-2.0
// Uncancelled: what pthread_cancel does not end half-way, and where in it a thread may end.
#pragma once

#include <pthread.h>

namespace openaclnn {

/// While it lives a cancellation of the thread waits: it would unwind what may not be unwound, and
/// leave locks of others, as the loader's. Calls of the API live in one (Api), but for those in
/// which nothing can be cancelled (ShortApi).
class Uncancelled {
 public:
  Uncancelled() : held_already_(s_state.held) {
    ++s_state.depth;
    if (held_already_) return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
    if (s_state.depth == 1) s_state.programs = before_;
    s_state.held = true;
  }
  Uncancelled(const Uncancelled&) = delete;
  ~Uncancelled() {
    --s_state.depth;
    if (held_already_) return;
    s_state.held = false;
    pthread_setcancelstate(before_, nullptr);
  }

 private:
  friend class Cancellable;

  struct State {
    int depth;
    int programs;  // what it was before the outermost
    bool held;
  };
  // Initial-exec: a few bytes of each library, without a call for each call.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local State s_state = {
      0, PTHREAD_CANCEL_ENABLE, false};

  const bool held_already_;
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// In one Uncancelled: what the program itself decides about, its functions and the waits of its
/// calls. In two nothing: the inner one is there since nothing may end in it.
class Cancellable {
 public:
  Cancellable() : alone_(Uncancelled::s_state.depth == 1) {
    if (!alone_) return;
    Uncancelled::s_state.held = false;
    pthread_setcancelstate(Uncancelled::s_state.programs, nullptr);
  }
  Cancellable(const Cancellable&) = delete;
  ~Cancellable() {
    if (!alone_) return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    Uncancelled::s_state.held = true;
  }

 private:
  const bool alone_;
};

}  // namespace openaclnn
