// SPDX-License-Identifier: Apache-2.0
// Rows of UINT64.
#include "supporting/unsigned.h"

#include <cstring>

namespace openaclnn::supporting {
namespace {

/// Rounded to odd: what DOUBLE does not hold gets an odd last bit, so that to round it again to
/// fewer bits is to round the integer once.
double Odd(uint64_t value) {
  constexpr uint64_t kLow = 0x7FF;  // bits below those of a double
  const bool exact = value < uint64_t{1} << 53;
  const uint64_t odd = (value & ~kLow) | ((value & kLow) != 0 ? kLow + 1 : 0);
  return static_cast<double>(exact ? value : odd);
}

template <class T, bool kOdd>
void Load(const std::byte* from, int64_t step, int64_t n, T* out) {
  for (int64_t i = 0; i < n; ++i) {
    uint64_t value;
    std::memcpy(&value, from + i * step, sizeof(value));
    out[i] = kOdd ? static_cast<T>(Odd(value)) : static_cast<T>(value);
  }
}

template <class T>
uint64_t Unsigned(T value) {
  if constexpr (!std::is_integral_v<T>) {
    if (value >= static_cast<T>(0x1p64)) return ~uint64_t{0};
    if (value >= static_cast<T>(0x1p63)) return static_cast<uint64_t>(value);
  }
  return static_cast<uint64_t>(ToInteger(value));
}

template <class T>
void Store(const T* values, int64_t n, std::byte* to, int64_t step) {
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t value = Unsigned(values[i]);
    std::memcpy(to + i * step, &value, sizeof(value));
  }
}

}  // namespace

template <class T>
LoadRow<T> WholeLoaderOf(int32_t dtype, int32_t to) {
  if (dtype != ACL_UINT64) return LoaderOf<T>(dtype);
  const bool odd = std::is_same_v<T, double> && to != ACL_DOUBLE;
  return odd ? Load<T, true> : Load<T, false>;
}

template <class T>
StoreRow<T> WholeStorerOf(int32_t dtype) {
  return dtype == ACL_UINT64 ? Store<T> : StorerOf<T>(dtype);
}

template LoadRow<float> WholeLoaderOf<float>(int32_t, int32_t);
template LoadRow<double> WholeLoaderOf<double>(int32_t, int32_t);
template LoadRow<int64_t> WholeLoaderOf<int64_t>(int32_t, int32_t);
template StoreRow<float> WholeStorerOf<float>(int32_t);
template StoreRow<double> WholeStorerOf<double>(int32_t);
template StoreRow<int64_t> WholeStorerOf<int64_t>(int32_t);

}  // namespace openaclnn::supporting
