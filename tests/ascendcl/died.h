// SPDX-License-Identifier: Apache-2.0
// Died: how a process of a test ends that touches what it may not.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

namespace openaclnn {

/// For EXPECT_EXIT. A sanitizer's handler comes after ours and ends the process in its own way.
inline bool Died(int status) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return status != 0;
#else
  return testing::KilledBySignal(SIGSEGV)(status);
#endif
}

}  // namespace openaclnn
