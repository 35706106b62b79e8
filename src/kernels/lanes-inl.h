// SPDX-License-Identifier: Apache-2.0
// F32x16: sixteen float lanes, the same number on every instruction set, so that bits agree.
//
// To be included by files that are compiled once for each target; everything lives in the target's
// namespace. Loads and stores convert FLOAT16 and BFLOAT16; arithmetic is float only.
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

// Storage types of the 16-bit formats; nothing computes with them.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

#if defined(__AVX512F__)
#include "kernels/lanes_avx512-inl.h"
#elif defined(__AVX2__)
#include "kernels/lanes_avx2-inl.h"
#elif defined(__SSE4_2__)
#include "kernels/lanes_sse4-inl.h"
#elif defined(__aarch64__)
#include "kernels/lanes_neon-inl.h"
#else
#error "no lanes for this instruction set"
#endif

/// Sixteen floats in kRegisters machine registers. `tail` versions touch only the first n elements;
/// lanes beyond are 0.
struct F32x16 {
  Register part[kRegisters];

  template <class T>
  static F32x16 Load(const T* from) {
    F32x16 result;
    for (int i = 0; i < kRegisters; ++i) result.part[i] = LoadRegister(from + i * kWidth);
    return result;
  }

  template <class T>
  static F32x16 LoadTail(const T* from, int64_t n) {
    T buffer[kLanes] = {};
    std::memcpy(buffer, from, static_cast<size_t>(n) * sizeof(T));
    return Load(buffer);
  }

  static F32x16 Broadcast(float value) {
    F32x16 result;
    for (int i = 0; i < kRegisters; ++i) result.part[i] = BroadcastRegister(value);
    return result;
  }

  template <class T>
  void Store(T* to) const {
    for (int i = 0; i < kRegisters; ++i) StoreRegister(part[i], to + i * kWidth);
  }

  template <class T>
  void StoreTail(T* to, int64_t n) const {
    T buffer[kLanes];
    Store(buffer);
    std::memcpy(to, buffer, static_cast<size_t>(n) * sizeof(T));
  }

  friend F32x16 operator+(F32x16 a, F32x16 b) {
    for (int i = 0; i < kRegisters; ++i) a.part[i] = AddRegister(a.part[i], b.part[i]);
    return a;
  }

  friend F32x16 operator/(F32x16 a, F32x16 b) {
    for (int i = 0; i < kRegisters; ++i) a.part[i] = DivideRegister(a.part[i], b.part[i]);
    return a;
  }
};

/// Calls body(position, load, store) for each group of lanes of [0, n): `load(pointer)` and
/// `store(lanes, pointer)` are whole ones but in the last group, where they stop at n.
template <class Body>
inline __attribute__((always_inline)) void ForLanes(int64_t n, Body&& body) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    body(
        i, [](const auto* from) { return F32x16::Load(from); },
        [](F32x16 lanes, auto* to) { lanes.Store(to); });
  }
  if (i == n) return;
  const int64_t rest = n - i;
  body(
      i, [rest](const auto* from) { return F32x16::LoadTail(from, rest); },
      [rest](F32x16 lanes, auto* to) { lanes.StoreTail(to, rest); });
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
