// SPDX-License-Identifier: Apache-2.0
// ScaledMaskedSoftmaxBackward: dx = mask ? 0 : scale * (dy*y - y * sum_j dy_j*y_j), over the last
// axis.
//
// Letters: dy the gradient of the output, y the output, dx the gradient of the input, each rows of
// n elements; mask one byte an element.
#pragma once

#include <array>
#include <cstdint>

#include "frame/operation.h"
#include "kernels/move/strided.h"
#include "kernels/rows/packed_rows.h"
#include "kernels/simd/target.h"
#include "masked_softmax/shared.h"

namespace openaclnn::masked_softmax::backward {

extern const Operator kOperator;

/// Positions in Params::operands().
enum OperandIndex { kGradOutput, kY, kMask, kOut };

struct Params {
  Input gradOutput, y, mask;
  double scale;
  bool fixTriuMask;
  Output out;

  std::array<const Operand*, 4> operands() const { return {&gradOutput, &y, &mask, &out}; }
};

/// One row, whose elements follow each other:
/// dx[j] = mask[j] ? 0 : scale * (dy[j]*y[j] - y[j] * sum dy*y).
struct Row {
  const void* dy;
  const void* y;
  const uint8_t* mask;
  void* dx;
  int64_t n;
  float scale;
};

/// The streamed ones write the whole cache lines of a row past the caches; dx is neither dy nor y.
using Kernels = RowKernels<Row>;
OPENACLNN_TARGET_DECLARE(extern const Kernels kKernels)
OPENACLNN_TARGET_DECLARE(extern const Kernels kStreamedKernels)

struct Plan {
  void (*row)(const Row& row);
  void (*streamed_row)(const Row& row);  // or null
  bool rows_are_long;                    // if not, they are streamed where they begin with a line
  int64_t rows, width;
  float scale;
  RowView dy, y, mask, dx;
  PackedRows packed;  // where elements of some lie apart
  uint64_t workspace_size;
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::masked_softmax::backward
