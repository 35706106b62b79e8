// SPDX-License-Identifier: Apache-2.0
// Batches of matrices as lines that are read and written in double, or in pairs.
#pragma once

#include <utility>

#include "kernels/move/broadcast.h"
#include "supporting/complex.h"
#include "supporting/matmul/matmul.h"

namespace openaclnn::supporting {

/// All dimensions but the last two.
inline Shape BatchOf(const Operand& operand) {
  return {operand.tensor().dims, operand.tensor().dims + operand.rank() - 2};
}

/// A batch's shape with that of its matrices.
inline Shape With(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

inline Matrix MatrixOf(const Tensor& tensor, const Shape& batch) {
  const int64_t* const strides = tensor.tensor().strides;
  const uint32_t rank = tensor.rank();
  Shape steps(batch.size(), 0);
  for (uint32_t d = 0; d + 2 < rank; ++d) {
    if (tensor.dim(d) != 1) steps[batch.size() - (rank - 2) + d] = strides[d];
  }
  return {tensor.place, tensor.dtype(),    BytesOf(tensor),
          steps,        strides[rank - 2], strides[rank - 1]};
}

/// A batch of an operand's matrices, element by element or along a line, in T: double or Pair.
template <class T>
class LinesOf {
 public:
  LinesOf(const Tensor& tensor, const Shape& batch)
      : matrix_(MatrixOf(tensor, batch)),
        batches_(matrix_.BatchOffsets(batch)),
        load_(LoadOf<T>(tensor)),
        store_(StoreOf<T>(tensor)) {}

  /// The lines of the matrices turned round.
  LinesOf Turned() const {
    LinesOf turned = *this;
    std::swap(turned.matrix_.row_step, turned.matrix_.column_step);
    return turned;
  }

  void Load(const Buffers& buffers, int64_t batch, int64_t row, int64_t column, int64_t n,
            T* to) const {
    load_(At(buffers, batch, row, column), matrix_.column_step * matrix_.element_bytes, n, to);
  }
  void Store(const Buffers& buffers, int64_t batch, int64_t row, int64_t column, int64_t n,
             const T* from) const {
    store_(from, n, At(buffers, batch, row, column), matrix_.column_step * matrix_.element_bytes);
  }

 private:
  std::byte* At(const Buffers& buffers, int64_t batch, int64_t row, int64_t column) const {
    const int64_t element = batches_(batch) + row * matrix_.row_step + column * matrix_.column_step;
    return matrix_.place(buffers) + element * matrix_.element_bytes;
  }

  Matrix matrix_;
  Offsets batches_;
  decltype(LoadOf<T>(std::declval<const Operand&>())) load_;
  decltype(StoreOf<T>(std::declval<const Operand&>())) store_;
};

using Lines = LinesOf<double>;

}  // namespace openaclnn::supporting
