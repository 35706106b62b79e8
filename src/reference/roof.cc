// SPDX-License-Identifier: Apache-2.0
// The roof of memory-bound work: bandwidth of reads, writes and copies, measured here and now.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <thread>
#include <utility>
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

enum Kind { kRead, kWrite, kCopy };

double Measure(Kind kind, uint64_t bytes, int threads) {
  const size_t words = std::max<uint64_t>(bytes / sizeof(uint64_t) / threads, 1024) & ~uint64_t{15};
  std::vector<Buffer> from, to;
  for (int t = 0; t < threads; ++t) {
    from.emplace_back(words);
    to.emplace_back(words);
  }
  std::vector<uint64_t> sums(threads * 8);  // a cache line apart, so that nothing is optimised away
  const auto body = [&](int t, int round) {
    // Writes alternate between plain and streaming stores; the better of the two counts.
    switch (kind) {
      case kRead:
        sums[t * 8] += Read(from[t].words(), words);
        break;
      case kWrite:
        if (round % 2 == 0) {
          std::memset(to[t].words(), round, words * sizeof(uint64_t));
        } else {
          Stream(to[t].words(), words, round);
        }
        break;
      case kCopy:
        std::memcpy(to[t].words(), from[t].words(), words * sizeof(uint64_t));
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
