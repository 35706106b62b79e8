// SPDX-License-Identifier: Apache-2.0
// Sums over one row and each of many, which lie side by side as columns.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// Columns lie side by side in multiples of so many.
inline constexpr int64_t kColumnLanes = 16;

/// The sum of each of `pitch` columns times a row of `width` numbers: element k of column j is
/// columns[k * pitch + j]. By the one tree: at most 64 in sequence, then pairwise.
struct ColumnSums {
  const double* row;
  const double* columns;
  int64_t width, pitch;
  double* out;
};

/// The loops that are compiled for each instruction set.
struct ColumnKernels {
  using Kernel = void (*)(const ColumnSums& of);
  Kernel products;
  // Kernels for functions of the differences.
  Kernel roots;  // of the sums of squares
  Kernel sizes, counts;
  Kernel largest;  // of the sizes; NaN where there is one
};
OPENACLNN_TARGET_DECLARE(extern const ColumnKernels kColumnKernels)

}  // namespace openaclnn
