// SPDX-License-Identifier: Apache-2.0
// Conversions between stored types and what operators compute in.
#include "kernels/number.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace openaclnn {

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1F, mantissa = bits & 0x3FF;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000 | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return 0x7E00;          // the canonical NaN
  if (magnitude >= 0x477FF000) return sign | 0x7C00;  // rounds to infinity
  if (magnitude < 0x38800000) {                       // subnormal: the addition rounds
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000));
  }
  const uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13);
}

float BFloatToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToBFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FC0;  // the canonical NaN
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

namespace {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
struct Boolean {
  uint8_t byte;
};

template <class T, class Stored>
T Widen(Stored value) {
  if constexpr (std::is_same_v<Stored, Half>) {
    return Widen<T>(HalfToFloat(value.bits));
  } else if constexpr (std::is_same_v<Stored, BFloat>) {
    return Widen<T>(BFloatToFloat(value.bits));
  } else if constexpr (std::is_same_v<Stored, Boolean>) {
    return value.byte != 0 ? T{1} : T{0};
  } else if constexpr (std::is_integral_v<T>) {
    return ToInteger(value);
  } else {
    return static_cast<T>(value);
  }
}

// Rounded to odd: what is not exact gets an odd last bit. To round that to a type of at least two
// bits fewer is to round the value itself, once.
float OddFloat(float value) { return value; }
float OddFloat(double value) {
  const auto nearest = static_cast<float>(value);
  if (nearest == value || IsNan(value)) return nearest;
  const auto bits = std::bit_cast<uint32_t>(nearest);
  const bool away = std::abs(static_cast<double>(nearest)) > std::abs(value);
  return std::bit_cast<float>((bits - (away ? 1 : 0)) | 1);
}
float OddFloat(int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53, kLow = 0x7FF;  // double has all bits but these
  if (value >= -kExact && value <= kExact) return OddFloat(static_cast<double>(value));
  const int64_t odd = (value & ~kLow) | ((value & kLow) != 0 ? kLow + 1 : 0);
  return OddFloat(static_cast<double>(odd));
}

template <class Stored, class T>
Stored Narrow(T value) {
  if constexpr (std::is_same_v<Stored, Half>) {
    return {FloatToHalf(OddFloat(value))};
  } else if constexpr (std::is_same_v<Stored, BFloat>) {
    return {FloatToBFloat(OddFloat(value))};
  } else if constexpr (std::is_same_v<Stored, Boolean>) {
    return {static_cast<uint8_t>(value != T{0})};
  } else if constexpr (std::is_integral_v<Stored>) {
    return static_cast<Stored>(ToInteger(value));
  } else {
    return IsNan(value) ? std::numeric_limits<Stored>::quiet_NaN() : static_cast<Stored>(value);
  }
}

template <class T, class Stored>
void Load(const std::byte* from, int64_t step, int64_t n, T* out) {
  if (step == sizeof(Stored)) {
    const auto* values = reinterpret_cast<const Stored*>(from);
    for (int64_t i = 0; i < n; ++i) out[i] = Widen<T>(values[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = Widen<T>(*reinterpret_cast<const Stored*>(from + i * step));
  }
}

template <class T, class Stored>
void Store(const T* values, int64_t n, std::byte* to, int64_t step) {
  if (step == sizeof(Stored)) {
    auto* stored = reinterpret_cast<Stored*>(to);
    for (int64_t i = 0; i < n; ++i) stored[i] = Narrow<Stored>(values[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<Stored*>(to + i * step) = Narrow<Stored>(values[i]);
  }
}

/// Calls with a value of the type that stands for dtype in memory.
template <class Call>
auto WithStored(int32_t dtype, Call&& call) {
  switch (dtype) {
    case ACL_FLOAT:
      return call(float{});
    case ACL_FLOAT16:
      return call(Half{});
    case ACL_BF16:
      return call(BFloat{});
    case ACL_DOUBLE:
      return call(double{});
    case ACL_INT8:
      return call(int8_t{});
    case ACL_UINT8:
      return call(uint8_t{});
    case ACL_INT16:
      return call(int16_t{});
    case ACL_UINT16:
      return call(uint16_t{});
    case ACL_INT32:
      return call(int32_t{});
    case ACL_UINT32:
      return call(uint32_t{});
    case ACL_INT64:
      return call(int64_t{});
    default:  // the checks leave nothing else
      return call(Boolean{});
  }
}

}  // namespace

template <class T>
LoadRow<T> LoaderOf(int32_t dtype) {
  return WithStored(dtype, [](auto stored) -> LoadRow<T> { return Load<T, decltype(stored)>; });
}

template <class T>
StoreRow<T> StorerOf(int32_t dtype) {
  return WithStored(dtype, [](auto stored) -> StoreRow<T> { return Store<T, decltype(stored)>; });
}

template LoadRow<float> LoaderOf<float>(int32_t);
template LoadRow<double> LoaderOf<double>(int32_t);
template LoadRow<int64_t> LoaderOf<int64_t>(int32_t);
template StoreRow<float> StorerOf<float>(int32_t);
template StoreRow<double> StorerOf<double>(int32_t);
template StoreRow<int64_t> StorerOf<int64_t>(int32_t);

}  // namespace openaclnn
