// SPDX-License-Identifier: Apache-2.0
// Sets of types that have more than the numbers that are computed as one.
#pragma once

#include "kernels/number/number.h"

namespace openaclnn::supporting {

inline constexpr DtypeSet kComplexTypes = Dtypes(ACL_COMPLEX64, ACL_COMPLEX128);

/// Numbers, real and complex.
inline constexpr DtypeSet kAllNumberTypes = kNumericTypes | kComplexTypes;

/// Types of integers.
inline constexpr DtypeSet kWholeTypes = kIntegerTypes | Dtypes(ACL_UINT64);

/// Real numbers, of UINT64 too, which few operators compute.
inline constexpr DtypeSet kNumeric64Types = kNumericTypes | Dtypes(ACL_UINT64);

/// All whose elements are moved as they are.
inline constexpr DtypeSet kMovableTypes = kAllNumberTypes | Dtypes(ACL_UINT64);

/// The type of a complex number's two parts; any other type is its own part.
constexpr int32_t PartOf(int32_t dtype) {
  return dtype == ACL_COMPLEX64 ? ACL_FLOAT : dtype == ACL_COMPLEX128 ? ACL_DOUBLE : dtype;
}

/// Bytes from a complex number's real part to its imaginary one; 0 for types of real numbers.
constexpr int64_t ImaginaryAt(int32_t dtype) {
  return dtype == ACL_COMPLEX64 ? 4 : dtype == ACL_COMPLEX128 ? 8 : 0;
}

}  // namespace openaclnn::supporting
