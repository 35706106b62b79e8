// SPDX-License-Identifier: Apache-2.0
// Signals: the runtime's threads leave them to the program, whose functions there keep its mask.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace openaclnn {

/// Sets the calling thread's mask while it lives.
class SignalMask {
 public:
  explicit SignalMask(const sigset_t& mask) { pthread_sigmask(SIG_SETMASK, &mask, &saved_); }
  SignalMask(const SignalMask&) = delete;
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }

  /// The calling thread's.
  static sigset_t Current() {
    sigset_t mask{};
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return mask;
  }

  /// For the runtime's threads: a handler of the program that runs there would meet a thread that
  /// the program does not know. Signals of what a thread does itself stay: blocked, a fault would
  /// end the process without the program's handler.
  static sigset_t OfRuntime() {
    sigset_t mask{};
    sigfillset(&mask);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
      sigdelset(&mask, own);
    }
    return mask;
  }

 private:
  sigset_t saved_{};
};

}  // namespace openaclnn
