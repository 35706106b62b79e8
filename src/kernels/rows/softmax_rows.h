// SPDX-License-Identifier: Apache-2.0
// Pieces of rows of float or double, for softmax, its logarithm and their gradients.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// Elements of a piece: a whole number of blocks of the tree of a sum, for double that of
/// double_rows.h, for float that of sum-inl.h. Longer rows add the sums of their pieces pairwise,
/// split at the largest power of two.
inline constexpr int64_t kSoftmaxPiece = 4096;

/// The loops that are compiled for each instruction set, over at most kSoftmaxPiece elements. An
/// output may be one of the inputs.
template <class T>
struct SoftmaxKernels {
  /// A NaN may or may not count: what becomes of the row is NaN either way.
  T (*largest)(const T* x, int64_t n);
  /// y = e^(x - shift), shift at least x. Their sum.
  T (*exp)(const T* x, T shift, int64_t n, T* y);
  /// y = x * factor
  void (*scale)(const T* x, T factor, int64_t n, T* y);
  /// y = x - shift - more
  void (*subtract)(const T* x, T shift, T more, int64_t n, T* y);
  T (*sum)(const T* x, int64_t n);
  T (*products)(const T* x, const T* y, int64_t n);  // their sum
  /// dx = y * (g - sum)
  void (*softmax_gradient)(const T* g, const T* y, T sum, int64_t n, T* dx);
  /// dx = g - e^y * sum
  void (*log_softmax_gradient)(const T* g, const T* y, T sum, int64_t n, T* dx);
};
OPENACLNN_TARGET_DECLARE(extern const SoftmaxKernels<float> kFloatSoftmax)
OPENACLNN_TARGET_DECLARE(extern const SoftmaxKernels<double> kDoubleSoftmax)

}  // namespace openaclnn
