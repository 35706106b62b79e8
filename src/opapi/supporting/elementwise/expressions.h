// SPDX-License-Identifier: Apache-2.0
// What of the elementwise expressions no record names.
#pragma once

#include <cstdint>

namespace openaclnn::supporting {

struct Expression;

namespace expressions {
extern const Expression kClampTensor;  // of two bounds
extern const Expression kTruncatedDivide, kTruncatedDivideScalar;
}  // namespace expressions

/// 10^n, which RoundDecimals multiplies by.
double PowerOfTen(int64_t n);

}  // namespace openaclnn::supporting
