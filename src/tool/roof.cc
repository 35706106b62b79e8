// SPDX-License-Identifier: Apache-2.0
// The roofs of the machine, here and now: bandwidth of its memory and rate of its multiply-adds.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "tool/measure.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using openaclnn::measure::Buffer;
using openaclnn::measure::kMedian;
using openaclnn::measure::Rate;
using openaclnn::measure::Statistic;

constexpr int64_t kSteps = 1 << 19;  // a few milliseconds of multiply-adds

/// Streams through memory; multiplies and adds in registers. `words` are multiples of 64.
struct Loops {
  uint64_t (*read)(const uint64_t* from, size_t words);
  void (*write)(uint64_t* to, size_t words, uint64_t value);
  /// Adds `steps` products to each of many sums; the sum of all, and how many there are.
  float (*multiply_add)(int64_t steps);
  int sums;
};

uint64_t Read(const uint64_t* from, size_t words) {
  uint64_t sums[16] = {};
  for (size_t i = 0; i < words; i += 16) {
    for (size_t j = 0; j < 16; ++j) sums[j] += from[i + j];
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

void Write(uint64_t* to, size_t words, uint64_t value) { std::fill_n(to, words, value); }

float MultiplyAdd(int64_t steps) {
  float sums[64];
  for (int j = 0; j < 64; ++j) sums[j] = static_cast<float>(j);
  for (int64_t i = 0; i < steps; ++i) {
#if defined(__FP_FAST_FMAF)
    for (float& sum : sums) sum = __builtin_fmaf(sum, 0.5F, 1.0F);
#else
    for (float& sum : sums) sum = sum * 0.5F + 1.0F;
#endif
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

constexpr Loops kPlain = {Read, Write, MultiplyAdd, 64};

#if defined(__x86_64__)

// Reads go through four quarters at once: measured 17 to 19 GB/s where one place after the other
// gave 11 to 16. Stores go past the cache, for which a line need not be read first. Twelve sums
// hide the latency of a multiply-add, 4 cycles on two ports; they start apart, or the compiler
// would compute one.

__attribute__((target("avx2"))) uint64_t ReadAvx2(const uint64_t* from, size_t words) {
  __m256i sums[8] = {};
  for (size_t i = 0; i < words / 4; i += 8) {
    for (size_t j = 0; j < 8; ++j) {
      const uint64_t* at = from + j / 2 * (words / 4) + i + j % 2 * 4;
      sums[j] = _mm256_add_epi64(sums[j], _mm256_load_si256(reinterpret_cast<const __m256i*>(at)));
    }
  }
  for (size_t j = 1; j < 8; ++j) sums[0] = _mm256_add_epi64(sums[0], sums[j]);
  uint64_t total = 0;
  for (int lane = 0; lane < 4; ++lane) total += static_cast<uint64_t>(sums[0][lane]);
  return total;
}

__attribute__((target("avx2"))) void WriteAvx2(uint64_t* to, size_t words, uint64_t value) {
  const __m256i four = _mm256_set1_epi64x(static_cast<int64_t>(value));
  for (size_t i = 0; i < words; i += 4) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), four);
  }
  _mm_sfence();
}

__attribute__((target("avx2,fma"))) float MultiplyAddAvx2(int64_t steps) {
  const __m256 half = _mm256_set1_ps(0.5F), one = _mm256_set1_ps(1);
  __m256 sums[12];
  for (int j = 0; j < 12; ++j) sums[j] = _mm256_set1_ps(static_cast<float>(j));
  for (int64_t i = 0; i < steps; ++i) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, half, one);
  }
  for (size_t j = 1; j < 12; ++j) sums[0] = _mm256_add_ps(sums[0], sums[j]);
  return _mm256_cvtss_f32(sums[0]);
}

constexpr Loops kAvx2 = {ReadAvx2, WriteAvx2, MultiplyAddAvx2, 12 * 8};

__attribute__((target("avx512f"))) uint64_t ReadAvx512(const uint64_t* from, size_t words) {
  __m512i sums[8] = {};
  for (size_t i = 0; i < words / 4; i += 16) {
    for (size_t j = 0; j < 8; ++j) {
      const uint64_t* at = from + j / 2 * (words / 4) + i + j % 2 * 8;
      sums[j] = _mm512_add_epi64(sums[j], _mm512_load_si512(at));
    }
  }
  for (size_t j = 1; j < 8; ++j) sums[0] = _mm512_add_epi64(sums[0], sums[j]);
  uint64_t total = 0;
  for (int lane = 0; lane < 8; ++lane) total += static_cast<uint64_t>(sums[0][lane]);
  return total;
}

__attribute__((target("avx512f"))) void WriteAvx512(uint64_t* to, size_t words, uint64_t value) {
  const __m512i line = _mm512_set1_epi64(static_cast<int64_t>(value));
  for (size_t i = 0; i < words; i += 8) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), line);
  }
  _mm_sfence();
}

__attribute__((target("avx512f"))) float MultiplyAddAvx512(int64_t steps) {
  const __m512 half = _mm512_set1_ps(0.5F), one = _mm512_set1_ps(1);
  __m512 sums[12];
  for (int j = 0; j < 12; ++j) sums[j] = _mm512_set1_ps(static_cast<float>(j));
  for (int64_t i = 0; i < steps; ++i) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, half, one);
  }
  for (size_t j = 1; j < 12; ++j) sums[0] = _mm512_add_ps(sums[0], sums[j]);
  return _mm512_cvtss_f32(sums[0]);
}

constexpr Loops kAvx512 = {ReadAvx512, WriteAvx512, MultiplyAddAvx512, 12 * 16};

#endif

/// All loops that this machine has. A roof is the best of them: wider is not always faster.
std::vector<Loops> Candidates() {
  std::vector<Loops> loops = {kPlain};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) loops.push_back(kAvx2);
  if (__builtin_cpu_supports("avx512f")) loops.push_back(kAvx512);
#endif
  return loops;
}

/// The rate of the loop that is fastest. The widest one stands for all where a median is wanted:
/// the most of several medians is none.
double Most(int threads, Statistic of,
            const std::function<double(int thread, const Loops& loops)>& body) {
  std::vector<Loops> candidates = Candidates();
  if (of == kMedian) candidates.erase(candidates.begin(), candidates.end() - 1);
  double most = 0;
  for (const Loops& loops : candidates) {
    most = std::max(most, Rate(threads, of, [&](int thread) { return body(thread, loops); }));
  }
  return most;
}

/// The result of a loop, kept so that the compiler has to compute it; one for each thread.
struct alignas(64) Sink {
  uint64_t words = 0;
  float sum = 0;
};

}  // namespace

/// GB/s (10^9 bytes) of reads and of writes over `bytes` in all, on `threads` threads, a Statistic
/// `of` several rounds; nonzero when memory is short.
OPENACLNN_MEASURE int openaclnn_measure_bandwidth(uint64_t bytes, int threads, int of, double* read,
                                                  double* write) {
  try {
    const auto statistic = static_cast<Statistic>(of);
    const size_t words = std::max<uint64_t>(bytes / sizeof(uint64_t) / threads, 1024) & ~63ULL;
    const double moved = static_cast<double>(words * sizeof(uint64_t));
    std::vector<Buffer> buffers;
    buffers.reserve(static_cast<size_t>(threads));
    for (int t = 0; t < threads; ++t) buffers.emplace_back(words);
    std::vector<Sink> sinks(static_cast<size_t>(threads));
    *read = 1e-9 * Most(threads, statistic, [&](int t, const Loops& loops) {
              sinks[t].words += loops.read(buffers[t].words(), words);
              return moved;
            });
    *write = 1e-9 * Most(threads, statistic, [&](int t, const Loops& loops) {
               loops.write(buffers[t].words(), words, sinks[t].words);
               return moved;
             });
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

/// 10^9 FP32 operations a second, two to a multiply-add, on `threads` threads, a Statistic
/// `of` several rounds; 0 when it fails.
OPENACLNN_MEASURE double openaclnn_measure_multiply_add(int threads, int of) {
  try {
    const auto statistic = static_cast<Statistic>(of);
    std::vector<Sink> sinks(static_cast<size_t>(threads));
    return 1e-9 * Most(threads, statistic, [&](int t, const Loops& loops) {
             sinks[t].sum += loops.multiply_add(kSteps);
             return 2.0 * kSteps * loops.sums;
           });
  } catch (const std::exception&) {
    return 0;
  }
}
