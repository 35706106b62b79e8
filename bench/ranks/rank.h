// SPDX-License-Identifier: Apache-2.0
// One process of the bench of ranks: how it meets the others, and what it prints of a measurement.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace openaclnn::ranks {

/// As torchrun's variables have it; the folder is one that all ranks see.
struct Place {
  uint32_t ranks, rank;
  std::string folder;
};

/// Makes the file whole.
void Publish(const Place& place, const std::string& name, const std::string& content);
/// Waits for it.
std::string AwaitFile(const Place& place, const std::string& name);

/// As many on all ranks: fewer where one takes long.
inline size_t CallsOf(size_t bytes) {
  constexpr size_t kBytes = size_t{256} << 20, kLeast = 5, kMost = 200;
  const size_t calls = kBytes / (bytes + 1);
  return calls < kLeast ? kLeast : calls > kMost ? kMost : calls;
}

using Seconds = std::chrono::duration<double>;

/// Calls it so often; the median.
template <class Call>
double MedianSeconds(size_t calls, const Call& call) {
  std::vector<double> times(calls);
  for (double& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    time = Seconds(std::chrono::steady_clock::now() - begin).count();
  }
  const auto middle = times.begin() + static_cast<ptrdiff_t>(calls / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// A line of `compare.py`: what was measured (with `-` for what it does not have) and the time.
void Print(const std::string& what, size_t bytes, double seconds);

/// A message to another process and its answer, through a bare TCP socket, by the first two ranks.
void MeasureSocket(const Place& place, const std::vector<size_t>& sizes);

}  // namespace openaclnn::ranks
