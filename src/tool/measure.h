// SPDX-License-Identifier: Apache-2.0
// Parts of measuring the machine's roofs: memory as devices have it, threads, rounds.
#pragma once

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <thread>
#include <utility>
#include <vector>

/// Begins the definition of a function that the tool finds by its name.
#define OPENACLNN_MEASURE extern "C" __attribute__((visibility("default")))

namespace openaclnn::measure {

/// The statistic of several rounds of a loop. A machine's roof is the best that it was seen to do;
/// a row of the benchmark is a median, and so is the roof beside it: on a shared machine a 64 MB
/// read went at 26 GB/s at best, 21 in the middle.
enum Statistic : int { kBest, kMedian };

constexpr int Rounds(Statistic of) { return of == kBest ? 2 : 5; }

/// Binds the thread to the index-th of the processors that it may use, until it is destroyed: two
/// threads on one processor measure half a machine.
class Bound {
 public:
  explicit Bound(int index) {
    if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    int processor = -1;
    for (int left = index % CPU_COUNT(&before_); left >= 0;) {
      if (CPU_ISSET(++processor, &before_)) --left;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    bound_ = sched_setaffinity(0, sizeof(one), &one) == 0;
  }
  Bound(const Bound&) = delete;
  ~Bound() {
    if (bound_) sched_setaffinity(0, sizeof(before_), &before_);
  }

 private:
  cpu_set_t before_;
  bool bound_ = false;
};

/// The work that `body` says it did by the seconds it took, on all threads together, each on a
/// processor of its own and started before the clock is.
inline double Rate(int threads, Statistic of, const std::function<double(int thread)>& body) {
  std::vector<double> rates;
  for (int round = 0; round < Rounds(of); ++round) {
    std::atomic<int> waiting = 0;
    std::atomic<bool> begun = false;
    std::vector<std::thread> pool;
    for (int t = 1; t < threads; ++t) {
      pool.emplace_back([&, t] {
        const Bound bound(t);
        ++waiting;
        while (!begun) std::this_thread::yield();
        body(t);
      });
    }
    const Bound bound(0);
    while (waiting < threads - 1) std::this_thread::yield();
    const auto start = std::chrono::steady_clock::now();
    begun = true;
    const double done = body(0) * threads;
    for (std::thread& thread : pool) thread.join();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    rates.push_back(done / elapsed.count());
  }
  std::sort(rates.begin(), rates.end());
  return of == kBest ? rates.back() : rates[rates.size() / 2];
}

/// Memory on huge pages where the machine gives them, as device memory is, and touched.
class Buffer {
 public:
  explicit Buffer(size_t words) : bytes_((words * sizeof(uint64_t) + kHuge - 1) / kHuge * kHuge) {
    if (posix_memalign(&memory_, kHuge, bytes_) != 0) throw std::bad_alloc();
    madvise(memory_, bytes_, MADV_HUGEPAGE);
    std::memset(memory_, 1, bytes_);
  }
  Buffer(Buffer&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
  ~Buffer() { std::free(memory_); }
  uint64_t* words() const { return static_cast<uint64_t*>(memory_); }

 private:
  static constexpr size_t kHuge = size_t{2} << 20;
  void* memory_ = nullptr;
  size_t bytes_;
};

}  // namespace openaclnn::measure
