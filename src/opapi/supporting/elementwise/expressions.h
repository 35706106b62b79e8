// SPDX-License-Identifier: Apache-2.0
// What of the elementwise expressions no record names.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/number.h"
#include "kernels/target.h"

namespace openaclnn::supporting {

struct Expression;

/// Numbers, and what is moved between equal types alone.
inline constexpr DtypeSet kMovableTypes =
    kNumericTypes | Dtypes(ACL_UINT64, ACL_COMPLEX64, ACL_COMPLEX128);

OPENACLNN_TARGET_DECLARE(namespace expressions {
  extern const Expression kClampTensor;  // of two bounds
  extern const Expression kZero, kAngle;  // of what is no complex number
  extern const Expression kTruncatedDivide, kTruncatedDivideScalar;
})

/// 10^n, which RoundDecimals multiplies by.
inline double PowerOfTen(int64_t n) { return std::pow(10.0, static_cast<double>(n)); }

}  // namespace openaclnn::supporting
