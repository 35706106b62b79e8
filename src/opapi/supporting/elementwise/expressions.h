// SPDX-License-Identifier: Apache-2.0
// Elementwise expressions that no record names.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn::supporting {

struct Expression;

OPENACLNN_TARGET_DECLARE(namespace expressions {
  extern const Expression kClampTensor;  // of two bounds
  extern const Expression kTruncatedDivide, kTruncatedDivideScalar;
})

/// 10^n, which RoundDecimals multiplies by.
inline double PowerOfTen(int64_t n) { return std::pow(10.0, static_cast<double>(n)); }

/// A flag as an integer, which makes no floats of integers.
inline int64_t Whole(bool flag) { return flag ? 1 : 0; }

}  // namespace openaclnn::supporting
