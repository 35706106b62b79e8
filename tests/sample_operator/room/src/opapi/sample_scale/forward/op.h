// SPDX-License-Identifier: Apache-2.0
// SampleScale: y = scale * x.
//
// Letters: x the input, y the output, each rows of n elements.
#pragma once

#include <array>
#include <cstdint>

#include "frame/operation.h"
#include "kernels/move/strided.h"
#include "kernels/rows/packed_rows.h"
#include "kernels/simd/target.h"

namespace openaclnn::sample_scale::forward {

extern const Operator kOperator;

/// Positions in Params::operands().
enum OperandIndex { kSelf, kOut };

struct Params {
  Input self;
  double scale;
  Output out;

  std::array<const Operand*, 2> operands() const { return {&self, &out}; }
};

/// One row, whose elements follow each other: y[j] = scale * x[j].
struct Row {
  const void* x;
  void* y;
  int64_t n;
  float scale;
};

/// The loop that is compiled for each instruction set.
using RowKernel = void (*)(const Row& row);
enum KernelType { kFloat, kHalf, kBFloat16, kKernelTypes };
OPENACLNN_TARGET_DECLARE(extern const RowKernel kKernels[kKernelTypes])

struct Plan {
  RowKernel row;
  int64_t rows, width;
  float scale;
  RowView x, y;
  PackedRows packed;  // where elements of some lie apart
  uint64_t workspace_size;
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::sample_scale::forward
