// SPDX-License-Identifier: Apache-2.0
// ScaledMaskedSoftmax: y = softmax(mask ? -10000 : scale * x) over the last axis.
//
// Letters: x the input, y the output, each rows of n elements; mask one byte an element; z the
// masked argument of the exponential.
#pragma once

#include <array>
#include <cstdint>

#include "frame/operation.h"
#include "kernels/move/strided.h"
#include "kernels/rows/packed_rows.h"
#include "kernels/simd/target.h"
#include "masked_softmax/shared.h"

namespace openaclnn::masked_softmax::forward {

extern const Operator kOperator;

/// Positions in Params::operands().
enum OperandIndex { kX, kMask, kY };

struct Params {
  Input x, mask;
  double scale;
  bool fixTriuMask;
  Output y;

  std::array<const Operand*, 3> operands() const { return {&x, &mask, &y}; }
};

/// One row, whose elements follow each other:
/// y[j] = e^(z[j] - max z) / sum e^(z - max z), z[j] = mask[j] ? -10000 : scale*x[j].
struct Row {
  const void* x;
  const uint8_t* mask;
  void* y;
  int64_t n;
  float scale;
};

using Kernels = RowKernels<Row>;
OPENACLNN_TARGET_DECLARE(extern const Kernels kKernels)

struct Plan {
  void (*row)(const Row& row);
  int64_t rows, width;
  float scale;
  RowView x, mask, y;
  PackedRows packed;  // where elements of some lie apart
  uint64_t workspace_size;
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::masked_softmax::forward
