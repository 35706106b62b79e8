// SPDX-License-Identifier: Apache-2.0
// Products of whole numbers, block by block.
#include "supporting/matmul/whole_product.h"

#include <algorithm>
#include <array>
#include <vector>

#include "ascendcl/packed.h"
#include "kernels/work/divide_up.h"
#include "kernels/work/parallel.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kRowsOfBlock = 64;  // whose sums of 64 columns are 16 KB

const WholeGemmKernels& Kernels() { return *OPENACLNN_TARGET_SELECT(kWholeGemmKernels); }

Offsets BatchOffsets(const WholeMatrix& matrix, const Shape& batches) {
  Shape steps;
  steps.resize(batches.size());
  const size_t before = batches.size() - matrix.batch.size();
  for (size_t i = 0; i < matrix.batch.size(); ++i) {
    if (matrix.batch[i] != 1) steps[before + i] = matrix.batch_steps[i];
  }
  return {batches.data(), steps.data(), static_cast<uint32_t>(batches.size())};
}

WholeMatrix Turned(WholeMatrix matrix) {
  std::swap(matrix.rows, matrix.columns);
  std::swap(matrix.row_step, matrix.column_step);
  std::swap(matrix.eight_rows, matrix.eight_columns);
  return matrix;
}

}  // namespace

WholeMatrix::WholeMatrix(const Tensor& tensor, bool turned, bool packed_rows)
    : place(tensor.place), dtype(tensor.dtype()) {
  const uint32_t rank = tensor.rank();
  const int64_t* const strides = tensor.tensor().strides;
  rows = tensor.dim(rank - 2);
  columns = tensor.dim(rank - 1);
  row_step = strides[rank - 2];
  column_step = strides[rank - 1];
  if (dtype == ACL_INT32) {
    (packed_rows ? eight_rows : eight_columns) = true;
    (packed_rows ? rows : columns) *= kEight;
  }
  for (uint32_t i = 0; i + 2 < rank; ++i) {
    batch.push_back(tensor.dim(i));
    batch_steps.push_back(strides[i]);
  }
  if (turned) *this = Turned(*this);
}

int WholeMatrix::Number(const std::byte* from, int64_t row, int64_t column) const {
  if (dtype == ACL_INT4) {
    const int64_t at = row * row_step + column * column_step;
    const auto byte = std::to_integer<unsigned>(from[at >> 1]);
    return Int4Of((at & 1) != 0 ? byte >> 4 : byte);
  }
  const int64_t digit = eight_rows ? row % kEight : column % kEight;
  const int64_t at = (eight_rows ? row / kEight : row) * row_step +
                     (eight_rows ? column : column / kEight) * column_step;
  return Int4Of(reinterpret_cast<const uint32_t*>(from)[at] >> (4 * digit));
}

void WholeMatrix::Gather(const Buffers& buffers, int64_t offset, int64_t first, int64_t count,
                         int64_t begin, int64_t terms, int16_t* to, int64_t to_step) const {
  const std::byte* const from = place(buffers) + offset * UnitBytes(dtype) / ElementsOfByte(dtype);
  if (dtype == ACL_INT8) {
    const auto* const numbers = reinterpret_cast<const int8_t*>(from);
    Kernels().gather(numbers + begin * row_step + first * column_step, row_step, column_step, count,
                     terms, to, to_step);
    return;
  }
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t k = 0; k < terms; ++k) {
      to[j * to_step + k] = static_cast<int16_t>(Number(from, begin + k, first + j));
    }
  }
}

WholeProduct::WholeProduct(const WholeMatrix& a, const WholeMatrix& b, Shape batches)
    : a_(Turned(a)),
      b_(b),
      a_offsets_(BatchOffsets(a, batches)),
      b_offsets_(BatchOffsets(b, batches)),
      batches_(CountOf(batches)),
      row_blocks_(DivideUp(a.rows, kRowsOfBlock)),
      column_blocks_(DivideUp(b.columns, kWholeColumns)) {}

uint64_t WholeProduct::scratch_bytes() const {
  return ScratchBytes(__int128{a_.columns} * a_.rows * int{sizeof(int16_t)});
}

void WholeProduct::Run(const Buffers& buffers, std::byte* scratch, const Finish& finish) const {
  auto* const rows = reinterpret_cast<int16_t*>(scratch);
  const int64_t terms = a_.rows, blocks = row_blocks_ * column_blocks_;
  for (int64_t batch = 0; batch < batches_; ++batch) {
    if (batch == 0 || a_offsets_(batch) != a_offsets_(batch - 1)) {
      ParallelFor(row_blocks_, [&](int64_t block) {
        const int64_t first = block * kRowsOfBlock;
        a_.Gather(buffers, a_offsets_(batch), first, std::min(kRowsOfBlock, a_.columns - first), 0,
                  terms, rows + first * terms, terms);
      });
    }
    ParallelFor(blocks, blocks * terms >= kLongBlocks * kWholeTerms,
                [&](int64_t block) { RunBlock(buffers, rows, batch, block, finish); });
  }
}

void WholeProduct::RunBlock(const Buffers& buffers, const int16_t* rows_of_a, int64_t batch,
                            int64_t block, const Finish& finish) const {
  const int64_t row = block % row_blocks_ * kRowsOfBlock;
  const int64_t column = block / row_blocks_ * kWholeColumns;
  const int64_t rows = std::min(kRowsOfBlock, a_.columns - row);
  const int64_t columns = std::min(kWholeColumns, b_.columns - column), terms = a_.rows;
  std::array<int32_t, static_cast<size_t>(kRowsOfBlock * kWholeColumns)> sums{};
  std::vector<int16_t> b(static_cast<size_t>(kWholeColumns * kWholeStep));
  for (int64_t begin = 0; begin < terms; begin += kWholeTerms) {
    const int64_t n = std::min(kWholeTerms, terms - begin);
    b_.Gather(buffers, b_offsets_(batch), column, columns, begin, n, b.data(), kWholeStep);
    for (int64_t r = 0; r < rows; r += kWholeRows) {
      Kernels().dots(rows_of_a + (row + r) * terms + begin, terms, std::min(kWholeRows, rows - r),
                     b.data(), columns, n, &sums[static_cast<size_t>(r * kWholeColumns)]);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    finish(buffers, batch, row + r, column, &sums[static_cast<size_t>(r * kWholeColumns)], columns);
  }
}

}  // namespace openaclnn::supporting
