// SPDX-License-Identifier: Apache-2.0
// Stores that go past the caches.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace openaclnn {

/// Before another thread is told that what was streamed is there: such stores are ordered by
/// nothing else.
inline void EndStreams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace openaclnn
