// SPDX-License-Identifier: Apache-2.0
// Products of matrices in double: sums of at most 64 products in sequence, then pairwise.
#include <algorithm>
#include <vector>

#include "kernels/work/divide_up.h"
#include "supporting/matmul/matmul.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kChunk = 64;  // products in sequence
constexpr int64_t kRows = 32;   // of a tile of the result
constexpr int64_t kColumns = 64;

struct Tile {
  double sums[kRows][kColumns];
};

void Add(const Tile& earlier, Tile* later, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) later->sums[i][j] += earlier.sums[i][j];
  }
}

/// One matrix of an operand.
class Lines {
 public:
  Lines(const MatrixProduct& product, const Matrix& matrix, const Buffers& buffers, int64_t batch)
      : matrix_(matrix),
        load_(LoaderOf<double>(matrix.dtype)),
        store_(StorerOf<double>(matrix.dtype)),
        origin_(matrix.place(buffers)),
        first_(matrix.BatchOffsets(product.batch)(batch)) {}

  void Load(int64_t row, int64_t column, int64_t n, double* to) const {
    load_(At(row, column), matrix_.column_step * matrix_.element_bytes, n, to);
  }
  void Store(const double* from, int64_t n, int64_t row, int64_t column) const {
    store_(from, n, At(row, column), matrix_.column_step * matrix_.element_bytes);
  }

 private:
  std::byte* At(int64_t row, int64_t column) const {
    const int64_t element = first_ + row * matrix_.row_step + column * matrix_.column_step;
    return origin_ + element * matrix_.element_bytes;
  }

  const Matrix& matrix_;
  LoadRow<double> load_;
  StoreRow<double> store_;
  std::byte* origin_;  // null without elements
  int64_t first_;      // element of the matrix
};

class Multiplier {
 public:
  Multiplier(const MatrixProduct& product, const Buffers& buffers, int64_t batch)
      : product_(product),
        a_(product, product.a, buffers, batch),
        b_(product, product.b, buffers, batch),
        c_(product, product.c, buffers, batch),
        added_(product, product.added, buffers, batch) {}

  void MultiplyTile(int64_t row, int64_t column) const {
    const int64_t rows = std::min(kRows, product_.rows - row);
    const int64_t columns = std::min(kColumns, product_.columns - column);
    std::vector<Tile> waiting(1);
    size_t depth = 0;
    const auto join = [&] {
      Add(waiting[depth - 2], &waiting[depth - 1], rows);
      std::swap(waiting[depth - 2], waiting[depth - 1]);
      --depth;
    };
    for (int64_t k = 0, chunk = 0; k < product_.terms; k += kChunk, ++chunk) {
      if (waiting.size() == depth) waiting.emplace_back();
      MultiplyChunk(row, rows, column, columns, k, &waiting[depth++]);
      for (int64_t done = chunk; (done & 1) != 0; done >>= 1) join();
    }
    if (depth == 0) waiting[0] = {};
    while (depth > 1) join();
    for (int64_t i = 0; i < rows; ++i) {
      double* const sums = waiting[0].sums[i];
      Finish(row + i, column, columns, sums);
      c_.Store(sums, columns, row + i, column);
    }
  }

 private:
  void MultiplyChunk(int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t k,
                     Tile* tile) const {
    const int64_t terms = std::min(kChunk, product_.terms - k);
    double right[kChunk][kColumns] = {}, left[kChunk];
    for (int64_t q = 0; q < terms; ++q) b_.Load(k + q, column, columns, right[q]);
    for (int64_t i = 0; i < rows; ++i) {
      a_.Load(row + i, k, terms, left);
      double* const sums = tile->sums[i];
      std::fill_n(sums, kColumns, 0.0);
      for (int64_t q = 0; q < terms; ++q) {
        for (int64_t j = 0; j < kColumns; ++j) sums[j] += left[q] * right[q][j];
      }
    }
  }

  /// alpha * sums + beta * added.
  void Finish(int64_t row, int64_t column, int64_t n, double* sums) const {
    double added[kColumns] = {};
    if (product_.beta != 0) added_.Load(row, column, n, added);
    for (int64_t j = 0; j < n; ++j) {
      sums[j] *= product_.alpha;
      if (product_.beta != 0) sums[j] += product_.beta * added[j];
    }
  }

  const MatrixProduct& product_;
  Lines a_, b_, c_, added_;
};

}  // namespace

Status MultiplyDoubles(const MatrixProduct& product, const Buffers& buffers) {
  const int64_t row_tiles = DivideUp(product.rows, kRows);
  const int64_t column_tiles = DivideUp(product.columns, kColumns);
  const int64_t tiles = CountOf(product.batch) * row_tiles * column_tiles;
  if (tiles == 0) return {};
  ParallelFor(tiles, [&](int64_t index) {
    const Multiplier multiplier(product, buffers, index / column_tiles / row_tiles);
    multiplier.MultiplyTile(index / column_tiles % row_tiles * kRows,
                            index % column_tiles * kColumns);
  });
  return {};
}

}  // namespace openaclnn::supporting
