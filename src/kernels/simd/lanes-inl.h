// SPDX-License-Identifier: Apache-2.0
// F32x16: sixteen float lanes, the same number on every instruction set, so that bits agree.
//
// To be included by files that are compiled once for each target; everything lives in the target's
// namespace. Loads and stores convert FLOAT16 and BFLOAT16; arithmetic is float only.
//
// Which NaN an operation gives depends on the order of its operands, which compilers choose. What
// an operator writes has none but the canonical one (positive, quiet, no payload): narrowing makes
// it so, and AsResult.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace openaclnn {
namespace OPENACLNN_TARGET {

inline constexpr int kLanes = 16;
inline constexpr int32_t kCanonicalNan = 0x7FC00000;

// Storage types of the 16-bit formats; nothing computes with them.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

#if defined(__AVX512F__)
#include "kernels/simd/lanes_avx512-inl.h"
#elif defined(__AVX2__)
#include "kernels/simd/lanes_avx2-inl.h"
#elif defined(__SSE4_2__)
#include "kernels/simd/lanes_sse4-inl.h"
#elif defined(__aarch64__)
#include "kernels/simd/lanes_neon-inl.h"
#else
#error "no lanes for this instruction set"
#endif

/// The first and the last kBytes of some bytes, at most twice as many: no call, and no loop.
template <size_t kBytes>
inline __attribute__((always_inline)) void CopyEnds(const char* from, size_t bytes, char* to) {
  std::memcpy(to, from, kBytes);
  std::memcpy(to + bytes - kBytes, from + bytes - kBytes, kBytes);
}

/// n elements, fewer than kLanes.
template <class T>
inline __attribute__((always_inline)) void CopyTail(const T* from, int64_t n, T* to) {
  const auto* const source = reinterpret_cast<const char*>(from);
  auto* const target = reinterpret_cast<char*>(to);
  const size_t bytes = static_cast<size_t>(n) * sizeof(T);
  if (bytes >= 32) {
    CopyEnds<32>(source, bytes, target);
  } else if (bytes >= 16) {
    CopyEnds<16>(source, bytes, target);
  } else if (bytes >= 8) {
    CopyEnds<8>(source, bytes, target);
  } else if (bytes >= 4) {
    CopyEnds<4>(source, bytes, target);
  } else if (bytes >= 2) {
    CopyEnds<2>(source, bytes, target);
  }
}

/// Sixteen floats in kRegisters machine registers. `tail` versions touch only the first n elements;
/// lanes beyond are 0.
struct F32x16 {
  Register part[kRegisters];

  template <class T>
  static F32x16 Load(const T* from) {
    return Each([=](int i) { return LoadRegister(from + i * kWidth); });
  }

  template <class T>
  static F32x16 LoadTail(const T* from, int64_t n) {
#if defined(OPENACLNN_MASKED_TAILS)
    return {{LoadFirst(from, n)}};
#else
    T buffer[kLanes] = {};
    CopyTail(from, n, buffer);
    return Load(buffer);
#endif
  }

  /// With `rest` in the lanes beyond.
  static F32x16 LoadTail(const float* from, int64_t n, float rest) {
#if defined(OPENACLNN_MASKED_TAILS)
    return {{LoadFirst(from, n, rest)}};
#else
    float buffer[kLanes];
    Broadcast(rest).Store(buffer);
    CopyTail(from, n, buffer);
    return Load(buffer);
#endif
  }

  static F32x16 Broadcast(float value) {
    return Each([=](int) { return BroadcastRegister(value); });
  }

  template <class T>
  void Store(T* to) const {
    for (int i = 0; i < kRegisters; ++i) StoreRegister(part[i], to + i * kWidth);
  }

  /// Past the caches where the processor can, up to EndStreams: what is overwritten is not read
  /// first. `to` is a multiple of 16 elements' bytes.
  template <class T>
  void Stream(T* to) const {
    for (int i = 0; i < kRegisters; ++i) StreamRegister(part[i], to + i * kWidth);
  }

  template <class T>
  void StoreTail(T* to, int64_t n) const {
#if defined(OPENACLNN_MASKED_TAILS)
    StoreFirst(part[0], to, n);
#else
    T buffer[kLanes];
    Store(buffer);
    CopyTail(buffer, n, to);
#endif
  }

  friend F32x16 operator+(F32x16 a, F32x16 b) {
    return Each([&](int i) { return AddRegister(a.part[i], b.part[i]); });
  }

  friend F32x16 operator-(F32x16 a, F32x16 b) {
    return Each([&](int i) { return SubtractRegister(a.part[i], b.part[i]); });
  }

  friend F32x16 operator*(F32x16 a, F32x16 b) {
    return Each([&](int i) { return MultiplyRegister(a.part[i], b.part[i]); });
  }

  friend F32x16 operator/(F32x16 a, F32x16 b) {
    return Each([&](int i) { return DivideRegister(a.part[i], b.part[i]); });
  }

  /// The first n lanes, and `rest` in those beyond.
  F32x16 Until(int64_t n, float rest) const {
#if defined(OPENACLNN_MASKED_TAILS)
    return {{KeepFirst(part[0], n, rest)}};
#else
    float buffer[2 * kLanes];
    Store(buffer);
    Broadcast(rest).Store(buffer + n);
    return Load(buffer);
#endif
  }

  /// a*b + c, rounded once but on the baseline, which has no FMA.
  static F32x16 MulAdd(F32x16 a, F32x16 b, F32x16 c) {
    return Each([&](int i) { return MulAddRegister(a.part[i], b.part[i], c.part[i]); });
  }

  /// The larger; b where one of them is NaN.
  static F32x16 Max(F32x16 a, F32x16 b) {
    return Each([&](int i) { return MaxRegister(a.part[i], b.part[i]); });
  }

  /// The stored form of a result of type T: each NaN is the canonical one. Stores of the 16-bit
  /// types see to theirs.
  template <class T>
  inline __attribute__((always_inline)) F32x16 AsResult() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return Each([&](int i) { return CanonicalRegister(part[i]); });
    }
    return *this;
  }

  /// 2^n for whole n from -126 to 127; 0 for -127.
  static F32x16 PowerOfTwo(F32x16 n) {
    return Each([&](int i) { return PowerOfTwoRegister(n.part[i]); });
  }

  /// Each lane times 2^n, where `whole` has n + 1.5 * 2^23; see AddToExponent.
  F32x16 TimesPowerOfTwo(F32x16 whole) const {
    return Each([&](int i) { return AddToExponent(part[i], whole.part[i]); });
  }

  /// Whether each lane is at least the other's; NaN is not.
  bool AtLeast(F32x16 least) const { return AllAtLeast(part, least.part); }

  /// Lane by lane: zero where the byte is 0, else `other`.
  static F32x16 Select(const uint8_t* bytes, F32x16 zero, F32x16 other) {
    return Each(
        [&](int i) { return SelectRegister(bytes + i * kWidth, zero.part[i], other.part[i]); });
  }

  /// The sum of the lanes: halves are added to each other, eight, four, two and one apart.
  float Sum() const {
    return Fold([](float a, float b) { return a + b; });
  }

  /// The largest lane; of NaNs and others either.
  float Largest() const {
    return Fold([](float a, float b) { return a > b ? a : b; });
  }

 private:
  /// Applies body(i) to each register, spelled out: loops over registers keep arrays of lanes in
  /// memory.
  template <class Body>
  static inline __attribute__((always_inline)) F32x16 Each(Body&& body) {
    static_assert(kRegisters == 1 || kRegisters == 2 || kRegisters == 4);
    if constexpr (kRegisters == 1) return {{body(0)}};
    if constexpr (kRegisters == 2) return {{body(0), body(1)}};
    if constexpr (kRegisters == 4) return {{body(0), body(1), body(2), body(3)}};
  }

  template <class Join>
  inline __attribute__((always_inline)) float Fold(Join&& join) const {
    float lanes[kLanes];
    Store(lanes);
#pragma GCC unroll 4
    for (int apart = kLanes / 2; apart > 0; apart /= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < apart; ++i) lanes[i] = join(lanes[i], lanes[i + apart]);
    }
    return lanes[0];
  }
};

/// Whole groups of lanes, and the last one that stops after n: what ForLanes hands to its body.
struct WholeLanes {
  template <class T>
  F32x16 Load(const T* from) const {
    return F32x16::Load(from);
  }
  template <class T>
  void Store(F32x16 lanes, T* to) const {
    lanes.Store(to);
  }
  F32x16 Select(const uint8_t* bytes, F32x16 zero, F32x16 other) const {
    return F32x16::Select(bytes, zero, other);
  }
  /// With `rest` in the lanes that have no element.
  F32x16 Fill(F32x16 lanes, float) const { return lanes; }
};

struct TailLanes {
  int64_t n;

  template <class T>
  F32x16 Load(const T* from) const {
    return F32x16::LoadTail(from, n);
  }
  template <class T>
  void Store(F32x16 lanes, T* to) const {
    lanes.StoreTail(to, n);
  }
  F32x16 Select(const uint8_t* bytes, F32x16 zero, F32x16 other) const {
#if defined(OPENACLNN_MASKED_TAILS)
    return {{SelectFirst(bytes, n, zero.part[0], other.part[0])}};
#else
    uint8_t buffer[kLanes] = {};
    std::memcpy(buffer, bytes, static_cast<size_t>(n));
    return F32x16::Select(buffer, zero, other);
#endif
  }
  F32x16 Fill(F32x16 lanes, float rest) const { return lanes.Until(n, rest); }
};

/// Calls body(position, lanes) for each group of lanes of [0, n); `lanes` loads, stores and selects
/// sixteen elements, in the last group only those up to n.
template <class Body>
inline __attribute__((always_inline)) void ForLanes(int64_t n, Body&& body) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(i, WholeLanes());
  if (i < n) body(i, TailLanes{n - i});
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
