// SPDX-License-Identifier: Apache-2.0
// Threads of this process, as the system lists them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <thread>

namespace openaclnn {

/// How many there are: the least of a few looks, for one that was joined is seen a moment more.
inline size_t CountThreads() {
  size_t least = SIZE_MAX;
  for (int look = 0; look < 5; ++look) {
    if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::filesystem::directory_iterator threads("/proc/self/task");
    least = std::min(least, static_cast<size_t>(std::distance(begin(threads), end(threads))));
  }
  return least;
}

/// The same once they are at most so many, or ten seconds have passed.
inline size_t SettledThreads(size_t most) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  size_t count = CountThreads();
  while (count > most && std::chrono::steady_clock::now() < end) count = CountThreads();
  return count;
}

}  // namespace openaclnn
