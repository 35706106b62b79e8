// SPDX-License-Identifier: Apache-2.0
// The allocator of short_memory.h for a process that preloads it: only objects of C++ are short.
#include <optional>

#include "tests/support/short_memory.h"

using openaclnn::test::Shortage;
using openaclnn::test::ShortMemory;

static std::optional<ShortMemory> g_memory;

extern "C" {

/// From here allocation `first` fails, whoever asks; with `once` 0 all after it too.
void short_memory_begin(int64_t first, int once) {
  const auto fails = once != 0 ? Shortage::Fails::kOnce : Shortage::Fails::kFromThenOn;
  g_memory.emplace(Shortage{first, fails, Shortage::Threads::kAll});
}

/// There is memory again. Returns how many allocations have failed.
int64_t short_memory_end() {
  g_memory.reset();
  return ShortMemory::failures();
}

int64_t short_memory_live_blocks() { return openaclnn::test::LiveBlocks(); }
}
