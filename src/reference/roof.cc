// SPDX-License-Identifier: Apache-2.0
// The roof of memory-bound work: bandwidth of reads, writes and copies, measured here and now.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

constexpr int kRounds = 7;

/// Sixteen independent sums hide the latency of the additions.
uint64_t Read(const uint64_t* from, size_t words) {
  uint64_t sums[16] = {};
  for (size_t i = 0; i + 16 <= words; i += 16) {
    for (size_t j = 0; j < 16; ++j) sums[j] += from[i + j];
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

/// Stores past the cache where the machine has them.
void Stream(uint64_t* to, size_t words, uint64_t value) {
#if defined(__SSE2__)
  const __m128i pair = _mm_set1_epi64x(static_cast<int64_t>(value));
  for (size_t i = 0; i + 2 <= words; i += 2) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), pair);
  }
  _mm_sfence();
#else
  std::fill_n(to, words, value);
#endif
}

/// Seconds that `body` takes on all threads together, each with its own part; best of kRounds.
double Best(int threads, const std::function<void(int thread, int round)>& body) {
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> pool;
    for (int t = 1; t < threads; ++t) pool.emplace_back(body, t, round);
    body(0, round);
    for (std::thread& thread : pool) thread.join();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

enum Kind { kRead, kWrite, kCopy };

double Measure(Kind kind, uint64_t bytes, int threads) {
  const size_t words = std::max<uint64_t>(bytes / sizeof(uint64_t) / threads, 1024) & ~uint64_t{15};
  std::vector<std::unique_ptr<uint64_t[]>> from, to;
  for (int t = 0; t < threads; ++t) {
    from.push_back(std::make_unique<uint64_t[]>(words));
    to.push_back(std::make_unique<uint64_t[]>(words));
    std::memset(from.back().get(), 1, words * sizeof(uint64_t));
    std::memset(to.back().get(), 1, words * sizeof(uint64_t));
  }
  std::vector<uint64_t> sums(threads * 8);  // a cache line apart, so that nothing is optimised away
  const auto body = [&](int t, int round) {
    // Writes alternate between plain and streaming stores; the better of the two counts.
    switch (kind) {
      case kRead:
        sums[t * 8] += Read(from[t].get(), words);
        break;
      case kWrite:
        round % 2 == 0 ? std::memset(to[t].get(), round, words * sizeof(uint64_t))
                       : (Stream(to[t].get(), words, round), to[t].get());
        break;
      case kCopy:
        std::memcpy(to[t].get(), from[t].get(), words * sizeof(uint64_t));
        break;
    }
  };
  const double seconds = Best(threads, body);
  const double moved = static_cast<double>(words * sizeof(uint64_t)) * threads;
  return moved * (kind == kCopy ? 2 : 1) / seconds / 1e9;
}

}  // namespace

/// GB/s (10^9 bytes) of kind 0 reads, 1 writes, 2 copies (bytes read plus bytes written) over
/// `bytes` in all, on `threads` threads; 0 when memory is short or the kind is none.
extern "C" __attribute__((visibility("default"))) double openaclnn_measure_bandwidth(int kind,
                                                                                     uint64_t bytes,
                                                                                     int threads) {
  if (kind < kRead || kind > kCopy || threads < 1) return 0;
  try {
    return Measure(static_cast<Kind>(kind), bytes, threads);
  } catch (const std::exception&) {
    return 0;
  }
}
