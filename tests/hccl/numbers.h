// SPDX-License-Identifier: Apache-2.0
// The types of elements and the reduction of ranks as the specification has them, in plain steps:
// numbers are taken apart and rounded by arithmetic in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "hccl/hccl_types.h"

namespace openaclnn::ranks {

/// A float of 16 bits with so many of the exponent.
template <int kExponentBits>
struct Small {
  static constexpr int kFraction = 15 - kExponentBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  uint16_t bits = 0;

  double Value() const {
    const int exponent = bits >> kFraction & ((1 << kExponentBits) - 1);
    const double fraction = bits & ((1 << kFraction) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == (1 << kExponentBits) - 1) {
      return fraction != 0 ? std::nan("") : sign * INFINITY;
    }
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - kBias - kFraction);
    return sign * std::ldexp(1.0 + std::ldexp(fraction, -kFraction), exponent - kBias);
  }

  static Small Rounded(double value) {
    constexpr int kInfinity = ((1 << kExponentBits) - 1) << kFraction;
    if (std::isnan(value)) return {static_cast<uint16_t>(kInfinity | 1 << (kFraction - 1))};
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(value);
    if (std::isinf(size)) return {static_cast<uint16_t>(sign | kInfinity)};
    const int least = 1 - kBias;
    int exponent = size == 0 ? least : std::max(std::ilogb(size), least);
    double steps = std::nearbyint(std::ldexp(size, kFraction - exponent));
    if (steps == std::ldexp(2.0, kFraction)) {
      steps /= 2;
      ++exponent;
    }
    if (exponent > kBias) return {static_cast<uint16_t>(sign | kInfinity)};
    const bool normal = steps >= std::ldexp(1.0, kFraction);
    const int fraction = static_cast<int>(steps) - (normal ? 1 << kFraction : 0);
    const int field = normal ? exponent + kBias : 0;
    return {static_cast<uint16_t>(sign | field << kFraction | fraction)};
  }
};
using Fp16 = Small<5>;
using Bf16 = Small<8>;

template <class T>
inline constexpr bool kIsSmall = std::is_same_v<T, Fp16> || std::is_same_v<T, Bf16>;

/// What the elements are added in.
template <class T>
using Sum = std::conditional_t<kIsSmall<T>, float, T>;

template <class T>
Sum<T> Read(T element) {
  if constexpr (kIsSmall<T>) {
    return static_cast<float>(element.Value());
  } else {
    return element;
  }
}

template <class T>
T Round(Sum<T> sum) {
  if constexpr (kIsSmall<T>) {
    return T::Rounded(sum);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(sum) ? std::numeric_limits<T>::quiet_NaN() : sum;
  } else {
    return sum;
  }
}

template <class S>
S Combine(S a, S b, HcclReduceOp op) {
  if constexpr (std::is_floating_point_v<S>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<S>::quiet_NaN();
    if (op == HCCL_REDUCE_SUM) return a + b;
    if (op == HCCL_REDUCE_PROD) return a * b;
  } else {
    using Wide = unsigned __int128;  // wraps around to the same bits
    if (op == HCCL_REDUCE_SUM) return static_cast<S>(static_cast<Wide>(a) + static_cast<Wide>(b));
    if (op == HCCL_REDUCE_PROD) return static_cast<S>(static_cast<Wide>(a) * static_cast<Wide>(b));
  }
  if (op == HCCL_REDUCE_MAX) return a > b ? a : b;
  return a < b ? a : b;
}

/// tree(x_0, …): split at the largest power of two below the number, left before right.
template <class S>
S Tree(const S* terms, size_t count, HcclReduceOp op) {
  if (count == 1) return terms[0];
  size_t split = 1;
  while (2 * split < count) split *= 2;
  return Combine(Tree(terms, split, op), Tree(terms + split, count - split, op), op);
}

template <class T>
using Vectors = std::vector<std::vector<T>>;  // by rank

/// Element by element over the ranks.
template <class T>
std::vector<T> Reduced(const Vectors<T>& inputs, HcclReduceOp op) {
  std::vector<T> result(inputs[0].size());
  std::vector<Sum<T>> terms(inputs.size());
  for (size_t i = 0; i < result.size(); ++i) {
    for (size_t rank = 0; rank < inputs.size(); ++rank) terms[rank] = Read(inputs[rank][i]);
    result[i] = Round<T>(Tree(terms.data(), terms.size(), op));
  }
  return result;
}

/// Random bits for integers; floats of many sizes, with zeros, infinities and NaN among them.
template <class T>
std::vector<T> Random(size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random());
    } else {
      const uint64_t bits = random();
      double number = std::ldexp(1.0 + static_cast<double>(bits >> 20 & 0xFFFFF) / 0x100000,
                                 static_cast<int>(bits & 15) - 8);
      if ((bits >> 8 & 1) != 0) number = -number;
      if (bits >> 56 == 0) number = 0;
      if (bits >> 56 == 1 && bits % 3 == 0) number = INFINITY;
      if (bits >> 56 == 2 && bits % 5 == 0) number = std::nan("");
      if constexpr (kIsSmall<T>) {
        value = T::Rounded(number);
      } else {
        value = static_cast<T>(number);
      }
    }
  }
  return values;
}

template <class T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace openaclnn::ranks
