// SPDX-License-Identifier: Apache-2.0
// Rows of numbers between stored types and what operators compute in, compiled once for each
// instruction set. Rows that are not dense go through groups of lanes.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/number/number.h"
#include "kernels/simd/lanes-inl.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

struct Boolean {
  uint8_t byte;
};

int64_t Count(WholeLanes) { return kLanes; }
int64_t Count(TailLanes lanes) { return lanes.n; }

template <class Stored>
constexpr bool kIs16BitFloat = std::is_same_v<Stored, Float16> || std::is_same_v<Stored, BFloat16>;

template <class T, class Stored>
T Widen(Stored value) {
  if constexpr (std::is_same_v<Stored, Boolean>) {
    return value.byte != 0 ? T{1} : T{0};
  } else if constexpr (std::is_integral_v<T>) {
    return ToInteger(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class T, class Stored>
void WidenRow(const Stored* from, int64_t n, T* out) {
  if constexpr (kIs16BitFloat<Stored>) {
    ForLanes(n, [&](int64_t j, auto lanes) {
      const F32x16 values = lanes.Load(from + j);
      if constexpr (std::is_same_v<T, float>) return lanes.Store(values, out + j);
      float group[kLanes];
      values.Store(group);
      for (int64_t i = 0; i < Count(lanes); ++i) out[j + i] = Widen<T>(group[i]);
    });
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = Widen<T>(from[i]);
  }
}

// Rounded to odd: what is not exact gets an odd last bit. To round that to a type of at least two
// bits fewer is to round the value itself, once.
float OddFloat(double value) {
  const auto nearest = static_cast<float>(value);
  const bool exact = nearest == value || IsNan(value);
  const bool away = std::abs(static_cast<double>(nearest)) > std::abs(value);
  const auto bits = std::bit_cast<uint32_t>(nearest);
  return std::bit_cast<float>(exact ? bits : (bits - (away ? 1 : 0)) | 1);
}
float OddFloat(int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53, kLow = 0x7FF;  // double has all bits but these
  const int64_t odd = (value & ~kLow) | ((value & kLow) != 0 ? kLow + 1 : 0);
  const bool exact = value >= -kExact && value <= kExact;
  return OddFloat(static_cast<double>(exact ? value : odd));
}

template <class Stored, class T>
Stored Narrow(T value) {
  if constexpr (std::is_same_v<Stored, Boolean>) {
    return {static_cast<uint8_t>(value != T{0})};
  } else if constexpr (std::is_integral_v<Stored>) {
    return static_cast<Stored>(ToInteger(value));
  } else {
    return IsNan(value) ? std::numeric_limits<Stored>::quiet_NaN() : static_cast<Stored>(value);
  }
}

/// Integers of values that int32_t holds: 16 of them take one conversion of registers. False, with
/// nothing written, where it does not hold one.
template <class T, class Stored>
bool NarrowGroup(const T* values, Stored* to) {
  constexpr T kBeyond = T{0x1p31};
  int32_t inside = 1;
  for (int64_t i = 0; i < kLanes; ++i) {
    inside &=
        static_cast<int32_t>(values[i] >= -kBeyond) & static_cast<int32_t>(values[i] < kBeyond);
  }
  if (inside == 0) return false;
  for (int64_t i = 0; i < kLanes; ++i) {
    to[i] = static_cast<Stored>(static_cast<int32_t>(values[i]));
  }
  return true;
}

template <class T, class Stored>
void NarrowRow(const T* values, int64_t n, Stored* to) {
  if constexpr (kIs16BitFloat<Stored>) {
    ForLanes(n, [&](int64_t j, auto lanes) {
      if constexpr (std::is_same_v<T, float>) return lanes.Store(lanes.Load(values + j), to + j);
      float group[kLanes] = {};
      for (int64_t i = 0; i < Count(lanes); ++i) group[i] = OddFloat(values[j + i]);
      lanes.Store(F32x16::Load(group), to + j);
    });
  } else {
    for (int64_t i = 0; i < n;) {
      int64_t end = n;
      if constexpr (std::is_floating_point_v<T> && std::is_integral_v<Stored>) {
        if (n - i >= kLanes) {
          end = i + kLanes;
          if (NarrowGroup(values + i, to + i)) i = end;
        }
      }
      for (; i < end; ++i) to[i] = Narrow<Stored>(values[i]);
    }
  }
}

template <class T, class Stored>
void Load(const std::byte* from, int64_t step, int64_t n, T* out) {
  if (step == sizeof(Stored)) {
    WidenRow(reinterpret_cast<const Stored*>(from), n, out);
    return;
  }
  if (step == 0 && n > 0) {  // one element, broadcast
    T value;
    WidenRow(reinterpret_cast<const Stored*>(from), 1, &value);
    for (int64_t i = 0; i < n; ++i) out[i] = value;
    return;
  }
  for (int64_t j = 0; j < n; j += kLanes) {
    const int64_t count = n - j < kLanes ? n - j : kLanes;
    Stored group[kLanes] = {};
    for (int64_t i = 0; i < count; ++i) {
      group[i] = *reinterpret_cast<const Stored*>(from + (j + i) * step);
    }
    WidenRow(group, count, out + j);
  }
}

template <class T, class Stored>
void Store(const T* values, int64_t n, std::byte* to, int64_t step) {
  if (step == sizeof(Stored)) {
    NarrowRow(values, n, reinterpret_cast<Stored*>(to));
    return;
  }
  for (int64_t j = 0; j < n; j += kLanes) {
    const int64_t count = n - j < kLanes ? n - j : kLanes;
    Stored group[kLanes];
    NarrowRow(values + j, count, group);
    for (int64_t i = 0; i < count; ++i) {
      *reinterpret_cast<Stored*>(to + (j + i) * step) = group[i];
    }
  }
}

/// In the order of kStoredTypes.
template <class T, class... Stored>
constexpr NumberRows<T> RowsOf() {
  return {{Load<T, Stored>...}, {Store<T, Stored>...}};
}
template <class T>
constexpr NumberRows<T> AllRowsOf() {
  return RowsOf<T, float, Float16, BFloat16, double, int8_t, uint8_t, int16_t, uint16_t, int32_t,
                uint32_t, int64_t, Boolean>();
}

}  // namespace

const NumberKernels kNumberKernels = {AllRowsOf<float>(), AllRowsOf<double>(),
                                      AllRowsOf<int64_t>()};

}  // namespace openaclnn::OPENACLNN_TARGET
