// SPDX-License-Identifier: Apache-2.0
// Products of whole numbers of one byte, whose sums are exact in INT32.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// Columns of B, and terms of each, that are worked on together: a cache line of a row of bytes,
/// and 70 KB, which a second-level cache has.
inline constexpr int64_t kWholeColumns = 64, kWholeTerms = 512;
/// Elements between columns. Neighbours at 1 KB would share few sets of a first-level cache.
inline constexpr int64_t kWholeStep = kWholeTerms + 32;
/// Rows of A whose sums share what is read of B.
inline constexpr int64_t kWholeRows = 4;

/// The loops that are compiled for each instruction set. Sums do not leave INT32 for fewer than
/// 2^17 terms.
struct WholeGemmKernels {
  /// sums[r * kWholeColumns + j] += the sum of a[r * a_step + k] * b[j * kWholeStep + k], for at
  /// most kWholeRows rows, kWholeColumns columns and kWholeTerms terms.
  void (*dots)(const int16_t* a, int64_t a_step, int64_t rows, const int16_t* b, int64_t columns,
               int64_t terms, int32_t* sums);
  /// to[j * to_step + k] = from[k * term_step + j * column_step]
  void (*gather)(const int8_t* from, int64_t term_step, int64_t column_step, int64_t columns,
                 int64_t terms, int16_t* to, int64_t to_step);
};
OPENACLNN_TARGET_DECLARE(extern const WholeGemmKernels kWholeGemmKernels)

}  // namespace openaclnn
