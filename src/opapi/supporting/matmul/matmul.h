// SPDX-License-Identifier: Apache-2.0
// Products of matrices as their strides lie, whatever multiplies them.
#pragma once

#include "kernels/broadcast.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// An operand as matrices: steps of batches, rows and columns, in elements.
struct Matrix {
  Place place;
  int32_t dtype = ACL_FLOAT;
  int64_t element_bytes = 0;
  Shape batch;
  int64_t row_step = 0, column_step = 0;

  Offsets BatchOffsets(const Shape& shape) const {
    return {shape.data(), batch.data(), static_cast<uint32_t>(batch.size())};
  }
};

/// c = alpha a b + beta added, for each batch.
struct MatrixProduct {
  Shape batch;
  int64_t rows, columns, terms;
  Matrix a, b, c, added;
  double alpha = 1, beta = 0;  // without a beta, `added` takes no part whatever is there
};

/// In double, of any float types: the shared kernel has no lanes of double.
Status MultiplyDoubles(const MatrixProduct& product, const Buffers& buffers);

}  // namespace openaclnn::supporting
