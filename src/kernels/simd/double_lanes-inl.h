// SPDX-License-Identifier: Apache-2.0
// Sixteen lanes of double or of integers, the same number on every instruction set, and their
// exponential. Vectors of the compiler, cut as the registers are.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/simd/double_math-inl.h"
#include "kernels/simd/register-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

inline constexpr int kLanes = 16;
inline constexpr int kWidth = kRegisterBytes / 8;
inline constexpr int kParts = kLanes / kWidth;

/// Integers are unsigned where they are added: they wrap.
template <class T>
struct Lanes {
  typedef T Part __attribute__((vector_size(kRegisterBytes)));
  Part part[kParts];

  static Lanes All(T value) {
    Lanes lanes;
    for (Part& part : lanes.part) part = value - Part{};
    return lanes;
  }

  template <class Stored>
  static Lanes Load(const Stored* from) {
    Lanes lanes;
    for (int i = 0; i < kParts; ++i) lanes.part[i] = LoadPart(from + i * kWidth);
    return lanes;
  }

  /// The first n; the others are `rest`.
  template <class Stored>
  static Lanes LoadTail(const Stored* from, int64_t n, T rest) {
    Lanes lanes = All(rest);
    int whole = 0;
    for (; (whole + 1) * kWidth <= n; ++whole) {
      lanes.part[whole] = LoadPart(from + whole * kWidth);
    }
    const int64_t first = int64_t{whole} * kWidth;
    if (first == n) return lanes;
    T padded[kWidth];
    for (int i = 0; i < kWidth; ++i)
      padded[i] = first + i < n ? static_cast<T>(from[first + i]) : rest;
    lanes.part[whole] = LoadPart(padded);
    return lanes;
  }

  void Store(T* to) const { __builtin_memcpy(to, part, sizeof(part)); }

  /// As floats, rounded to the nearest.
  void StoreRounded(float* to) const {
    for (int i = 0; i < kParts; ++i) StorePart(part[i], to + i * kWidth);
  }

  friend Lanes operator+(Lanes a, const Lanes& b) {
    for (int i = 0; i < kParts; ++i) a.part[i] += b.part[i];
    return a;
  }
  friend Lanes operator-(Lanes a, const Lanes& b) {
    for (int i = 0; i < kParts; ++i) a.part[i] -= b.part[i];
    return a;
  }
  friend Lanes operator*(Lanes a, const Lanes& b) {
    for (int i = 0; i < kParts; ++i) a.part[i] *= b.part[i];
    return a;
  }

  /// With the same in all lanes, which takes one register.
  friend Lanes operator+(Lanes a, T b) {
    for (Part& part : a.part) part += b;
    return a;
  }
  friend Lanes operator-(Lanes a, T b) {
    for (Part& part : a.part) part -= b;
    return a;
  }
  friend Lanes operator*(Lanes a, T b) {
    for (Part& part : a.part) part *= b;
    return a;
  }

 private:
  template <class Stored>
  static Part LoadPart(const Stored* from) {
    // GCC 12 would convert halves.
#if defined(__AVX512F__)
    if constexpr (__is_same(T, double) && __is_same(Stored, float)) {
      return _mm512_cvtps_pd(_mm256_loadu_ps(from));
    }
#elif defined(__AVX2__)
    if constexpr (__is_same(T, double) && __is_same(Stored, float)) {
      return _mm256_cvtps_pd(_mm_loadu_ps(from));
    }
#endif
    typedef Stored StoredPart __attribute__((vector_size(kWidth * sizeof(Stored))));
    StoredPart stored;
    __builtin_memcpy(&stored, from, sizeof(stored));
    return __builtin_convertvector(stored, Part);
  }

  static void StorePart(Part from, float* to) {
#if defined(__AVX512F__)
    _mm256_storeu_ps(to, _mm512_cvtpd_ps(from));
#else
    typedef float Rounded __attribute__((vector_size(kWidth * sizeof(float))));
    const Rounded rounded = __builtin_convertvector(from, Rounded);
    __builtin_memcpy(to, &rounded, sizeof(rounded));
#endif
  }
};

/// The stored form of a result: each NaN is the canonical one.
template <class V>
V AsResult(V value) {
  return value == value ? value : V{} + __builtin_nan("");  // NOLINT(misc-redundant-expression)
}

/// e^x within about 1 unit in the last place; 0 below -708, where it is hardly normal; infinities
/// and NaN as one would have them.
__attribute__((always_inline)) inline Lanes<double> Exp(const Lanes<double>& x) {
  using Part = Lanes<double>::Part;
  constexpr double kLeast = -708, kMost = 710;
  typedef uint64_t Bits __attribute__((vector_size(kRegisterBytes)));
  Lanes<double> result;
  for (int i = 0; i < kParts; ++i) {
    const Part given = x.part[i];
    const PowerOfE<Part> power = PowerOf(given > kMost ? Part{} + kMost : given);
    // Half of 2^n, which is a double for the largest n too.
    const Bits half = (reinterpret_cast<Bits>(power.whole) + 1022) << 52;
    const Part product = (power.mantissa + power.mantissa) * reinterpret_cast<Part>(half);
    result.part[i] = given < kLeast ? Part{} : product;
  }
  return result;
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
