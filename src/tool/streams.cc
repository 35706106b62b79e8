// SPDX-License-Identifier: Apache-2.0
// More roofs for the benchmark: write, copy and triad, each with stores that go past the caches and
// with ordinary ones, and dot products of bfloat16 where the processor has them.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <vector>

#include "common/tile_registers.h"
#include "tool/measure.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using openaclnn::measure::Buffer;
using openaclnn::measure::kMedian;
using openaclnn::measure::Rate;
using openaclnn::measure::Statistic;

enum Kind : int { kWrite, kCopy, kTriad, kKinds };

constexpr int64_t kSteps = 1 << 19;  // a few milliseconds of dot products

/// a = s, a = b or a = b + s * c over `count` floats, a multiple of 64.
using Loop = void (*)(float* a, const float* b, const float* c, size_t count);

template <Kind kKind>
void Plain(float* a, const float* b, const float* c, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    a[i] = kKind == kWrite ? 0.5F : kKind == kCopy ? b[i] : b[i] + 0.5F * c[i];
  }
}

#if defined(__x86_64__)

template <Kind kKind, bool kStream>
__attribute__((target("avx2"))) void Avx2(float* a, const float* b, const float* c, size_t count) {
  const __m256 half = _mm256_set1_ps(0.5F);
  for (size_t i = 0; i < count; i += 8) {
    __m256 value = half;
    if constexpr (kKind != kWrite) value = _mm256_load_ps(b + i);
    if constexpr (kKind == kTriad) {
      value = _mm256_add_ps(value, _mm256_mul_ps(half, _mm256_load_ps(c + i)));
    }
    if constexpr (kStream) {
      _mm256_stream_ps(a + i, value);
    } else {
      _mm256_store_ps(a + i, value);
    }
  }
  if constexpr (kStream) _mm_sfence();
}

template <Kind kKind, bool kStream>
__attribute__((target("avx512f"))) void Avx512(float* a, const float* b, const float* c,
                                               size_t count) {
  const __m512 half = _mm512_set1_ps(0.5F);
  for (size_t i = 0; i < count; i += 16) {
    __m512 value = half;
    if constexpr (kKind != kWrite) value = _mm512_load_ps(b + i);
    if constexpr (kKind == kTriad) {
      value = _mm512_add_ps(value, _mm512_mul_ps(half, _mm512_load_ps(c + i)));
    }
    if constexpr (kStream) {
      _mm512_stream_ps(a + i, value);
    } else {
      _mm512_store_ps(a + i, value);
    }
  }
  if constexpr (kStream) _mm_sfence();
}

/// Two products a lane and instruction, in twelve sums that start apart.
__attribute__((target("avx512f,avx512bf16"))) float DotProducts(int64_t steps) {
  const auto half = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3f00));
  __m512 sums[12];
  for (int j = 0; j < 12; ++j) sums[j] = _mm512_set1_ps(static_cast<float>(j));
  for (int64_t i = 0; i < steps; ++i) {
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, half, half);
  }
  for (size_t j = 1; j < 12; ++j) sums[0] = _mm512_add_ps(sums[0], sums[j]);
  return _mm512_cvtss_f32(sums[0]);
}

#if !defined(__clang__)
/// Products of 16 x 32 by 32 x 16 in tile registers, added to four of them.
void TileProducts(int64_t steps) {
  openaclnn::TakeTileRegisters();
  for (int64_t i = 0; i < steps; ++i) {
    asm volatile(
        "tdpbf16ps %tmm5, %tmm4, %tmm0\n\ttdpbf16ps %tmm5, %tmm4, %tmm1\n\t"
        "tdpbf16ps %tmm5, %tmm4, %tmm2\n\ttdpbf16ps %tmm5, %tmm4, %tmm3");
  }
  openaclnn::ReleaseTileRegisters();
}
#endif

/// The best products of bfloat16 that the processor has: how many operations a call of them is.
double Products(float* sum) {
#if !defined(__clang__)  // Clang 14 does not know the name
  constexpr int64_t kTileSteps = kSteps / 8;
  if (__builtin_cpu_supports("amx-bf16") && openaclnn::HasTileRegisters()) {
    TileProducts(kTileSteps);
    return 4.0 * 2 * 16 * 16 * 32 * static_cast<double>(kTileSteps);
  }
#endif
  *sum += DotProducts(kSteps);
  return 4.0 * kSteps * 12 * 16;
}

#endif

/// The loops of this machine for a kind; none that streams where it cannot.
template <Kind kKind>
std::vector<Loop> LoopsOf(bool streaming) {
  std::vector<Loop> loops;
  if (!streaming) loops.push_back(Plain<kKind>);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    loops.push_back(streaming ? Avx2<kKind, true> : Avx2<kKind, false>);
  }
  if (__builtin_cpu_supports("avx512f")) {
    loops.push_back(streaming ? Avx512<kKind, true> : Avx512<kKind, false>);
  }
#endif
  return loops;
}

std::vector<Loop> Loops(int kind, bool streaming) {
  if (kind == kWrite) return LoopsOf<kWrite>(streaming);
  return kind == kCopy ? LoopsOf<kCopy>(streaming) : LoopsOf<kTriad>(streaming);
}

}  // namespace

/// GB/s (10^9 bytes read and written) of a kind over `bytes` in all, on `threads` threads, a
/// Statistic `of` several rounds; 0 where the machine has no such stores, negative when memory is
/// short.
OPENACLNN_MEASURE double openaclnn_measure_stream(int kind, int streaming, uint64_t bytes,
                                                  int threads, int of) {
  if (kind < 0 || kind >= kKinds || threads < 1) return -1;
  try {
    const auto arrays = static_cast<size_t>(kind) + 1;
    const size_t share = bytes / sizeof(float) / arrays / static_cast<size_t>(threads);
    const size_t count = std::max<size_t>(share, 1024) & ~size_t{63};
    std::vector<Buffer> buffers;
    buffers.reserve(arrays * static_cast<size_t>(threads));
    for (size_t i = 0; i < buffers.capacity(); ++i) buffers.emplace_back(count / 2);
    std::vector<Loop> loops = Loops(kind, streaming != 0);
    if (of == kMedian && loops.size() > 1) loops.erase(loops.begin(), loops.end() - 1);
    double best = 0;
    for (const Loop loop : loops) {
      const auto body = [&](int thread) {
        const auto at = [&](size_t array) {
          const size_t own = static_cast<size_t>(thread) * arrays + std::min(array, arrays - 1);
          return reinterpret_cast<float*>(buffers[own].words());
        };
        loop(at(0), at(1), at(2), count);
        return static_cast<double>(count * sizeof(float) * arrays);
      };
      best = std::max(best, 1e-9 * Rate(threads, static_cast<Statistic>(of), body));
    }
    return best;
  } catch (const std::exception&) {
    return -1;
  }
}

/// 10^9 operations a second of bfloat16 dot products, two to a product, on `threads` threads, a
/// Statistic `of` several rounds; in tile registers where the process may use them. 0 where the
/// processor has no such products, negative when it fails.
OPENACLNN_MEASURE double openaclnn_measure_dot_product(int threads, int of) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512bf16")) return 0;
  try {
    std::vector<float> sums(static_cast<size_t>(threads) * 16);
    return 1e-9 * Rate(threads, static_cast<Statistic>(of), [&](int thread) {
             return Products(&sums[static_cast<size_t>(thread) * 16]);
           });
  } catch (const std::exception&) {
    return -1;
  }
#else
  return threads < 1 || of < 0 ? -1 : 0;
#endif
}
