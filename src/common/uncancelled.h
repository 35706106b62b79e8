// SPDX-License-Identifier: Apache-2.0
// Uncancelled: a part of a call in which pthread_cancel does not end the calling thread.
#pragma once

#include <pthread.h>

namespace openaclnn {

/// While it lives a cancellation waits: it would unwind what may not be unwound.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  Uncancelled(const Uncancelled&) = delete;
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace openaclnn
