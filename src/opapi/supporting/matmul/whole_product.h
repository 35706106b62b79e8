// SPDX-License-Identifier: Apache-2.0
// Products of matrices of INT8 or INT4 with exact sums, block by block.
#pragma once

#include <functional>

#include "kernels/gemm/whole_gemm.h"
#include "kernels/move/broadcast.h"
#include "kernels/work/scratch.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// A tensor whose last two dimensions are matrices of numbers of INT8 or INT4, or of eight INT4 in
/// each INT32.
struct WholeMatrix {
  /// `turned` exchanges rows and columns. INT32 hold eight numbers along the tensor's last
  /// dimension, or with `packed_rows` along the one before.
  WholeMatrix(const Tensor& tensor, bool turned, bool packed_rows);

  /// Writes numbers [begin, begin + terms) of some columns, each to_step apart: of the matrix at
  /// some offset. A row of A is a column of A turned.
  void Gather(const Buffers& buffers, int64_t offset, int64_t first, int64_t columns, int64_t begin,
              int64_t terms, int16_t* to, int64_t to_step) const;

  Place place;
  int32_t dtype;
  int64_t rows = 0, columns = 0;          // in numbers
  int64_t row_step = 0, column_step = 0;  // in elements
  bool eight_rows = false, eight_columns = false;
  Shape batch, batch_steps;

 private:
  int Number(const std::byte* from, int64_t row, int64_t column) const;
};

/// c = a b of each batch, whose sums a function turns into results.
struct WholeProduct {
  /// Some sums of a row: of batch, row and first column.
  using Finish = std::function<void(const Buffers&, int64_t batch, int64_t row, int64_t column,
                                    const int32_t* sums, int64_t n)>;

  WholeProduct(const WholeMatrix& a, const WholeMatrix& b, Shape batches);

  uint64_t scratch_bytes() const;
  void Run(const Buffers& buffers, std::byte* scratch, const Finish& finish) const;

 private:
  void RunBlock(const Buffers& buffers, const int16_t* rows_of_a, int64_t batch, int64_t block,
                const Finish& finish) const;

  WholeMatrix a_, b_;  // A turned: its rows are columns
  Offsets a_offsets_, b_offsets_;
  int64_t batches_, row_blocks_, column_blocks_;
};

}  // namespace openaclnn::supporting
