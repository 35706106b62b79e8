// SPDX-License-Identifier: Apache-2.0
// Fork: a child may destroy what it inherited, so no lock here may be in another thread's hands
// then.
#pragma once

#include <pthread.h>

#include <mutex>

namespace openaclnn::capture {

/// Makes fork take the mutex, held for moments only, so that the child finds it free. Returns
/// something for a static object.
template <std::mutex& (*mutex)()>
int HoldDuringFork() {
  return pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); }, [] { mutex().unlock(); });
}

}  // namespace openaclnn::capture
