// SPDX-License-Identifier: Apache-2.0
// Fork: a child may go on with what it inherited, so no lock of it may be in another thread's hands
// then.
#pragma once

#include <pthread.h>

#include <memory>

namespace openaclnn {

/// Makes fork take the mutex that the function `mutex` gives, which is held for moments only, so
/// that the child finds it free. The function may not throw. Returns something for a static object.
template <auto mutex>
int HoldDuringFork() {
  // The child's is a new one: a shared mutex counts who waits for it, and they stay behind.
  return pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); },
                        [] {
                          mutex().unlock();  // for who keeps book of locks, as ThreadSanitizer
                          std::construct_at(&mutex());
                        });
}

}  // namespace openaclnn
