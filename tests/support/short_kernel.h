// SPDX-License-Identifier: Apache-2.0
// Calls of the kernel that fail when a test says so: memory, threads, files.
#pragma once

#include <cstdint>

#include "tests/support/short_memory.h"

namespace openaclnn::test {

/// The kernel refuses while it lives; one at a time. For programs that link short_kernel.cc, which
/// stands in front of mmap, munmap, mprotect, madvise, memfd_create, ftruncate, open,
/// pthread_create and pthread_key_create. They are counted together, those that the C library makes
/// for itself aside. Of a shortage least_bytes is not looked at.
class ShortKernel {
 public:
  explicit ShortKernel(const Shortage& shortage);
  ShortKernel(const ShortKernel&) = delete;
  ~ShortKernel();

  /// How many calls have failed since the last shortage began.
  static int64_t failures();
};

}  // namespace openaclnn::test
