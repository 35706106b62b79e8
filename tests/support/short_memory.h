// SPDX-License-Identifier: Apache-2.0
// Allocations that fail when a test says so, and how many are live.
#pragma once

#include <cstddef>
#include <cstdint>

namespace openaclnn::test {

/// Which allocations fail. They are counted from 0, small ones left out.
struct Shortage {
  enum class Fails { kOnce, kFromThenOn };
  enum class Threads { kThis, kAll };

  int64_t first = 0;
  Fails fails = Fails::kOnce;
  Threads threads = Threads::kThis;
  size_t least_bytes = 0;
};

/// Memory is short while it lives; one at a time. For programs that link short_memory.cc, which
/// replaces operator new and delete and, where no sanitizer does, malloc and its kin.
class ShortMemory {
 public:
  explicit ShortMemory(const Shortage& shortage);
  ShortMemory(const ShortMemory&) = delete;
  ~ShortMemory();

  /// How many allocations have failed since the last shortage began.
  static int64_t failures();
};

/// What operator new gave and delete has not taken, by all threads.
int64_t LiveBlocks();

}  // namespace openaclnn::test
