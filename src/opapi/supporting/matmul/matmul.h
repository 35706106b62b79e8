// SPDX-License-Identifier: Apache-2.0
// Products of matrices as their strides lie, whatever multiplies them.
#pragma once

#include "kernels/gemm/gemm.h"
#include "kernels/move/broadcast.h"
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

/// The product for the tensors' shapes, which fit each other.
MatrixProduct ProductOf(const Tensor& a, const Tensor& b, const Tensor& out);
/// The result, or what is added and broadcast to it; it has no row or no column dimension where a
/// factor is a vector.
Matrix ResultOf(const Tensor& operand, const Tensor& out, bool has_rows, bool has_columns);

/// Whether columns' elements are closer than rows'.
bool ByColumns(const Matrix& matrix);
/// Makes of a product its mirror image, b' a', where there are few columns: the bits are the same,
/// and rows are cheaper. Whether it did.
bool MirrorIfFew(MatrixProduct* product);
Gemm GemmOf(const MatrixProduct& product, Rounding round_a, Rounding round_b);

/// In double, of any float types: the shared kernel has no lanes of double.
Status MultiplyDoubles(const MatrixProduct& product, const Buffers& buffers);

}  // namespace openaclnn::supporting
