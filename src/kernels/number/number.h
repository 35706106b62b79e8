// SPDX-License-Identifier: Apache-2.0
// Elements of any numeric type as float, double or int64_t, a short row at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

#include "frame/support.h"
#include "kernels/simd/target.h"

namespace openaclnn {

// Inlined always: kernels of every instruction set use them, and must not share a copy.
template <class T>
inline __attribute__((always_inline)) bool IsNan(T a) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isnan(a);
  }
}

/// Toward zero; what int64_t cannot hold becomes its end, NaN 0.
template <class T>
inline __attribute__((always_inline)) int64_t ToInteger(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<int64_t>(value);
  } else {
    if (std::isnan(value)) return 0;
    if (value >= static_cast<T>(0x1p63)) return std::numeric_limits<int64_t>::max();
    if (value < static_cast<T>(-0x1p63)) return std::numeric_limits<int64_t>::min();
    return static_cast<int64_t>(value);
  }
}

/// The domain in which an operator that takes many types computes.
enum class Domain { kFloat, kDouble, kInteger };

inline constexpr DtypeSet kIntegerTypes =
    Dtypes(ACL_INT8, ACL_UINT8, ACL_INT16, ACL_UINT16, ACL_INT32, ACL_UINT32, ACL_INT64, ACL_BOOL);
inline constexpr DtypeSet kRealTypes = Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE);
inline constexpr DtypeSet kNumericTypes = kIntegerTypes | kRealTypes;

constexpr Domain DomainOf(int32_t dtype) {
  return dtype == ACL_DOUBLE           ? Domain::kDouble
         : Contains(kRealTypes, dtype) ? Domain::kFloat
                                       : Domain::kInteger;
}

/// Reads n elements that lie `step` bytes apart.
template <class T>
using LoadRow = void (*)(const std::byte* from, int64_t step, int64_t n, T* out);
/// Writes them: one rounding, to nearest, to a float, each NaN as the canonical one (positive,
/// quiet, no payload); to an integer toward zero, out of range as the low bits, NaN as 0; to BOOL
/// whether it is not 0.
template <class T>
using StoreRow = void (*)(const T* values, int64_t n, std::byte* to, int64_t step);

// For the numeric types above; T is float, double or int64_t.
template <class T>
LoadRow<T> LoaderOf(int32_t dtype);
template <class T>
StoreRow<T> StorerOf(int32_t dtype);

/// The types in memory, in the order of the tables below.
inline constexpr int32_t kStoredTypes[] = {
    ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE, ACL_INT8,  ACL_UINT8,
    ACL_INT16, ACL_UINT16,  ACL_INT32, ACL_UINT32, ACL_INT64, ACL_BOOL,
};

/// The loops that are compiled for each instruction set.
template <class T>
struct NumberRows {
  LoadRow<T> load[std::size(kStoredTypes)];
  StoreRow<T> store[std::size(kStoredTypes)];
};
struct NumberKernels {
  NumberRows<float> floats;
  NumberRows<double> doubles;
  NumberRows<int64_t> integers;
};
OPENACLNN_TARGET_DECLARE(extern const NumberKernels kNumberKernels)

}  // namespace openaclnn
