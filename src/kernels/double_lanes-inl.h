// SPDX-License-Identifier: Apache-2.0
// Sixteen lanes of double or of integers, the same number on every instruction set, and their
// exponential. Vectors of the compiler, cut as the registers are.
#pragma once

#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "kernels/register-inl.h"

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
    T padded[kLanes];
    for (int i = 0; i < kLanes; ++i) padded[i] = rest;
    for (int64_t i = 0; i < n; ++i) padded[i] = static_cast<T>(from[i]);
    return Load(padded);
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

 private:
  template <class Stored>
  static Part LoadPart(const Stored* from) {
#if defined(__AVX512F__)
    // GCC 12 would convert halves.
    if constexpr (__is_same(T, double) && __is_same(Stored, float)) {
      return _mm512_cvtps_pd(_mm256_loadu_ps(from));
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

/// What is stored of a result: each NaN the canonical one.
template <class V>
V AsResult(V value) {
  return value == value ? value : V{} + __builtin_nan("");  // NOLINT(misc-redundant-expression)
}

/// e^x within about 1 unit in the last place; 0 below -708, where it is hardly normal; infinities
/// and NaN as one would have them. No FMA: every target gives the same bits.
///
/// x = n ln 2 + r, |r| <= ln 2 / 2; e^r = 1 + r + r^2 q(r), q a polynomial that is off by at most
/// 2^-55, evaluated in short chains. ln 2 is subtracted in two parts, the first short enough that n
/// times it is exact.
__attribute__((always_inline)) inline Lanes<double> Exp(Lanes<double> x) {
  using V = Lanes<double>;
  constexpr double kQ[] = {0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,
                           0x1.11111111109b3p-7,  0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13,
                           0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19, 0x1.289185613a3d6p-22,
                           0x1.af38a9b0ec855p-26};
  const V round = V::All(0x1.8p52);  // adding it leaves no fraction
  constexpr double kLeast = -708, kMost = 710;
  typedef uint64_t Bits __attribute__((vector_size(kRegisterBytes)));
  V given = x;
  for (auto& part : x.part) part = part > kMost ? V::Part{} + kMost : part;
  const V whole = x * V::All(0x1.71547652b82fep0) + round, n = whole - round;
  const V r = (x - n * V::All(0x1.62e42fefa3000p-1)) - n * V::All(0x1.3de6af278ece6p-42);
  const auto two = [&](int i) { return V::All(kQ[i]) + V::All(kQ[i + 1]) * r; };
  const V r2 = r * r, r4 = r2 * r2;
  const V low = two(0) + two(2) * r2, middle = two(4) + two(6) * r2;
  const V q = low + (middle + two(8) * r4) * r4;
  const V power = (q * r2 + r) + V::All(1);
  V result;
  for (int i = 0; i < kParts; ++i) {
    // Half of 2^n, which is a double for the largest n too; n is in the last bits of `whole`.
    const Bits half = (reinterpret_cast<Bits>(whole.part[i]) + 1022) << 52;
    const auto product = (power.part[i] + power.part[i]) * reinterpret_cast<typename V::Part>(half);
    result.part[i] = given.part[i] < kLeast ? typename V::Part{} : product;
  }
  return result;
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
