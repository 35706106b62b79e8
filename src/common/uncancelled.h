// SPDX-License-Identifier: Apache-2.0
// Uncancelled: what pthread_cancel does not end half-way, and where in it a thread may end.
#pragma once

#include <pthread.h>

#include <utility>

namespace openaclnn {

/// The calling thread's state.
struct CancelState {
  bool held;        // a cancellation waits
  int num_whole;    // Uncancelled that are live
  int the_program;  // what the program has chosen for the thread, while it is held
};

// Initial-exec: a few bytes of each library, without a call for each call.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local CancelState t_cancel = {
    false, 0, PTHREAD_CANCEL_ENABLE};

/// While it lives a cancellation of the thread waits, but where it is Cancellable: it would unwind
/// what may not be unwound, and leave locks of others, as the loader's. Calls of the API live in
/// one (Api), but for those in which nothing can be cancelled (ShortApi).
class UncancelledCall {
 public:
  UncancelledCall() : holds_(!t_cancel.held), outer_(t_cancel.the_program) {
    if (!holds_) return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &t_cancel.the_program);
    t_cancel.held = true;
  }
  UncancelledCall(const UncancelledCall&) = delete;
  ~UncancelledCall() {
    if (!holds_) return;
    t_cancel.held = false;
    pthread_setcancelstate(std::exchange(t_cancel.the_program, outer_), nullptr);
  }

 private:
  const bool holds_;
  const int outer_;  // of a call whose function of the program's this call is in
};

/// A scope that has to come to its end: nothing in it is Cancellable.
class Uncancelled {
 public:
  Uncancelled() { ++t_cancel.num_whole; }
  Uncancelled(const Uncancelled&) = delete;
  ~Uncancelled() { --t_cancel.num_whole; }

 private:
  const UncancelledCall call_;
};

/// In an UncancelledCall: what the program itself decides about, its functions and the waits of its
/// calls. What a function of the program's chooses for the thread stays. In an Uncancelled nothing
/// is cancelled all the same, unless the function chooses that, which is undone behind it.
class Cancellable {
 public:
  Cancellable() : within_(t_cancel.held), opened_(within_ && t_cancel.num_whole == 0) {
    t_cancel.held = false;  // a call in the function takes care of itself
    if (opened_) pthread_setcancelstate(t_cancel.the_program, nullptr);
  }
  Cancellable(const Cancellable&) = delete;
  ~Cancellable() {
    if (!within_) return;
    int chosen = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &chosen);
    if (opened_) t_cancel.the_program = chosen;
    t_cancel.held = true;
  }

 private:
  const bool within_, opened_;
};

}  // namespace openaclnn
