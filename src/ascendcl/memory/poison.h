// SPDX-License-Identifier: Apache-2.0
// Tells AddressSanitizer which bytes of device memory are allocated; nothing in other builds.
#pragma once

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace openaclnn {

inline void PoisonMemory([[maybe_unused]] void* host, [[maybe_unused]] uint64_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(host, bytes);
#endif
}

inline void UnpoisonMemory([[maybe_unused]] void* host, [[maybe_unused]] uint64_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(host, bytes);
#endif
}

}  // namespace openaclnn
