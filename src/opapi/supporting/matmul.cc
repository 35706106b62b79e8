// SPDX-License-Identifier: Apache-2.0
// Matmul, Mm and BatchMatMul: sums of at most 64 products in sequence, then pairwise.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/broadcast.h"
#include "supporting/operators.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kChunk = 64;  // products in sequence
constexpr int64_t kRows = 32;   // of a tile of the result
constexpr int64_t kColumns = 64;

enum class Rounding { kNone, kHf32, kHalf };

/// What cubeMathType makes of FLOAT operands on a family.
Rounding RoundingOf(int64_t cube_math_type, OpenaclnnFamily family) {
  const bool hf32 = family == OPENACLNN_FAMILY_A2 || family == OPENACLNN_FAMILY_A3 ||
                    family == OPENACLNN_FAMILY_950;
  if (cube_math_type == 2) return Rounding::kHalf;
  if (hf32 && (cube_math_type == 1 || cube_math_type == 3)) return Rounding::kHf32;
  return cube_math_type == 1 ? Rounding::kHalf : Rounding::kNone;
}

/// To 11 mantissa bits, ties to even.
float RoundToHf32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7F800000) == 0x7F800000) return value;
  return std::bit_cast<float>((bits + 0x7FF + (bits >> 12 & 1)) & 0xFFFFF000);
}

template <class T>
void Round(Rounding rounding, T* values, int64_t n) {
  for (int64_t i = 0; i < n && rounding != Rounding::kNone; ++i) {
    const auto value = static_cast<float>(values[i]);
    values[i] = rounding == Rounding::kHf32 ? RoundToHf32(value) : HalfToFloat(FloatToHalf(value));
  }
}

/// An operand as matrices: offsets of a batch's and two steps, in bytes.
struct Matrix {
  Steps batch{Shape()};
  int64_t row_step = 0, column_step = 0;
};

struct MatrixProduct {
  Shape batch;
  int64_t rows, columns, terms;
  Matrix a, b, c, added;
  // Places in the call; `added` is that of what is added, if anything is.
  size_t a_at = 0, b_at = 1, c_at = 2;
  std::optional<size_t> added_at;
};

/// The shape with vectors made matrices, or nothing for a scalar.
Shape MatrixShape(const Operand& operand, bool left) {
  Shape shape = ShapeOf(operand);
  if (shape.size() == 1) shape.insert(left ? shape.begin() : shape.end(), 1);
  return shape;
}

Matrix MatrixOf(const Operand& operand, bool left, const Shape& batch) {
  const auto bytes = static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
  const uint32_t rank = operand.rank();
  const auto* strides = operand.tensor().strides;
  Matrix matrix;
  if (rank == 1) {
    (left ? matrix.column_step : matrix.row_step) = strides[0] * bytes;
  } else {
    matrix.row_step = strides[rank - 2] * bytes;
    matrix.column_step = strides[rank - 1] * bytes;
  }
  matrix.batch = Steps(Shape(batch.size()));
  const size_t own = rank > 2 ? rank - 2 : 0;
  for (size_t i = 0; i < own; ++i) {
    const auto dim = static_cast<uint32_t>(i);
    if (operand.dim(dim) != 1) {
      matrix.batch.bytes[batch.size() - own + i] = strides[i] * bytes;
    }
  }
  return matrix;
}

/// False when the shapes are not those of a product.
bool MultiplyShapes(const Operand& a, const Operand& b, Shape* batch, Shape* result) {
  if (a.rank() == 0 || b.rank() == 0) return false;
  const Shape left = MatrixShape(a, true), right = MatrixShape(b, false);
  if (left.back() != right.end()[-2]) return false;
  for (const Shape* shape : {&left, &right}) {
    const size_t own = shape->size() - 2;
    if (own > batch->size()) batch->insert(batch->begin(), own - batch->size(), 1);
    for (size_t i = 0; i < own; ++i) {
      int64_t& dim = (*batch)[batch->size() - own + i];
      if (dim == 1) {
        dim = (*shape)[i];
      } else if ((*shape)[i] != 1 && (*shape)[i] != dim) {
        return false;
      }
    }
  }
  *result = *batch;
  if (a.rank() > 1) result->push_back(left.end()[-2]);
  if (b.rank() > 1) result->push_back(right.back());
  return true;
}

/// What is added, broadcast to the result, which has rows and columns.
Matrix AddedMatrix(const Operand& self, const Operand& out) {
  Shape steps = Steps(ShapeOf(out), self).bytes;
  Matrix matrix;
  matrix.column_step = steps.back();
  matrix.row_step = steps.end()[-2];
  steps.resize(steps.size() - 2);
  matrix.batch = Steps(steps);
  return matrix;
}

MatrixProduct ProductOf(const Params& p, bool added) {
  const Operand &a = p.tensors[added ? 1 : 0], &b = p.tensors[added ? 2 : 1], &out = p.out();
  MatrixProduct product;
  if (added) {
    product.added_at = 0;
    product.added = AddedMatrix(p.tensors[0], out);
    product.a_at = 1;
    product.b_at = 2;
    product.c_at = 3;
  }
  Shape result;
  MultiplyShapes(a, b, &product.batch, &result);
  product.rows = a.rank() > 1 ? a.dim(a.rank() - 2) : 1;
  product.terms = a.last_dim();
  product.columns = b.rank() > 1 ? b.last_dim() : 1;
  product.a = MatrixOf(a, true, product.batch);
  product.b = MatrixOf(b, false, product.batch);
  // The result has no row or no column dimension where an operand is a vector.
  const auto bytes = static_cast<int64_t>(FindDataType(out.dtype())->bytes);
  const auto* strides = out.tensor().strides;
  uint32_t rank = out.rank();
  if (b.rank() > 1) product.c.column_step = strides[--rank] * bytes;
  if (a.rank() > 1) product.c.row_step = strides[--rank] * bytes;
  Shape batch_steps;
  for (uint32_t i = 0; i < rank; ++i) batch_steps.push_back(strides[i] * bytes);
  product.c.batch = Steps(batch_steps);
  return product;
}

/// A tile of the result, as sums of chunks that wait for their partner.
template <class T>
struct Tile {
  T sums[kRows][kColumns];
};

template <class T>
struct Multiplier {
  MatrixProduct product;
  Rounding rounding;
  LoadRow<T> load_a, load_b, load_added;
  StoreRow<T> store;
  T alpha, beta;

  static void Add(const Tile<T>& earlier, Tile<T>* later, int64_t rows) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j) later->sums[i][j] += earlier.sums[i][j];
    }
  }

  void MultiplyChunk(const std::byte* a, const std::byte* b, int64_t rows, int64_t columns,
                     int64_t terms, Tile<T>* tile) const {
    T right[kChunk][kColumns] = {}, left[kChunk];
    for (int64_t k = 0; k < terms; ++k) {
      load_b(b + k * product.b.row_step, product.b.column_step, columns, right[k]);
      Round(rounding, right[k], columns);
    }
    for (int64_t i = 0; i < rows; ++i) {
      load_a(a + i * product.a.row_step, product.a.column_step, terms, left);
      Round(rounding, left, terms);
      T* const sums = tile->sums[i];
      std::fill_n(sums, kColumns, T{});
      for (int64_t k = 0; k < terms; ++k) {
        for (int64_t j = 0; j < kColumns; ++j) sums[j] += left[k] * right[k][j];
      }
    }
  }

  /// alpha * sums + beta * added.
  void Finish(const std::byte* added, int64_t n, T* sums) const {
    T row[kColumns];
    load_added(added, product.added.column_step, n, row);
    for (int64_t j = 0; j < n; ++j) {
      // A beta of 0 takes no part, whatever was there.
      sums[j] = beta == 0 ? alpha * sums[j] : alpha * sums[j] + beta * row[j];
    }
  }

  void MultiplyTile(const std::byte* a, const std::byte* b, std::byte* c, const std::byte* added,
                    int64_t rows, int64_t columns) const {
    std::vector<Tile<T>> waiting(1);
    size_t depth = 0;
    for (int64_t k = 0, chunk = 0; k < product.terms; k += kChunk, ++chunk) {
      if (waiting.size() == depth) waiting.emplace_back();
      MultiplyChunk(a + k * product.a.column_step, b + k * product.b.row_step, rows, columns,
                    std::min(kChunk, product.terms - k), &waiting[depth++]);
      for (int64_t done = chunk; (done & 1) != 0; done >>= 1) {
        Add(waiting[depth - 2], &waiting[depth - 1], rows);
        std::swap(waiting[depth - 2], waiting[depth - 1]);
        --depth;
      }
    }
    if (depth == 0) waiting[0] = {};
    for (; depth > 1; --depth) {
      Add(waiting[depth - 2], &waiting[depth - 1], rows);
      std::swap(waiting[depth - 2], waiting[depth - 1]);
    }
    for (int64_t i = 0; i < rows; ++i) {
      if (added != nullptr) {
        Finish(added + i * product.added.row_step, columns, waiting[0].sums[i]);
      }
      store(waiting[0].sums[i], columns, c + i * product.c.row_step, product.c.column_step);
    }
  }

  Status operator()(const Buffers& buffers) const {
    const int64_t row_tiles = (product.rows + kRows - 1) / kRows;
    const int64_t column_tiles = (product.columns + kColumns - 1) / kColumns;
    int64_t batches = 1;
    for (const int64_t dim : product.batch) batches *= dim;
    const auto offset = [&](const Matrix& matrix, int64_t batch) {
      const auto rank = static_cast<uint32_t>(product.batch.size());
      return Offsets(product.batch.data(), matrix.batch.bytes.data(), rank)(batch);
    };
    if (batches * row_tiles * column_tiles == 0) return {};
    ParallelFor(batches * row_tiles * column_tiles, [&](int64_t index) {
      const int64_t column = index % column_tiles * kColumns;
      const int64_t row = index / column_tiles % row_tiles * kRows;
      const int64_t batch = index / column_tiles / row_tiles;
      const auto at = [&](size_t operand, const Matrix& matrix, int64_t i, int64_t j) {
        return buffers.As<std::byte>(operand) + offset(matrix, batch) + i * matrix.row_step +
               j * matrix.column_step;
      };
      MultiplyTile(at(product.a_at, product.a, row, 0), at(product.b_at, product.b, 0, column),
                   at(product.c_at, product.c, row, column),
                   product.added_at ? at(*product.added_at, product.added, row, column) : nullptr,
                   std::min(kRows, product.rows - row),
                   std::min(kColumns, product.columns - column));
    });
    return {};
  }
};

template <class T>
Plan MakeProduct(const Params& p, Rounding rounding, bool added) {
  const auto dtype = [&](size_t i) { return p.tensors[i].dtype(); };
  Multiplier<T> multiplier = {ProductOf(p, added),
                              rounding,
                              LoaderOf<T>(dtype(added ? 1 : 0)),
                              LoaderOf<T>(dtype(added ? 2 : 1)),
                              LoaderOf<T>(dtype(0)),
                              StorerOf<T>(p.out().dtype()),
                              T{1},
                              T{}};
  if (added) {
    multiplier.beta = p.values[0].As<T>();
    multiplier.alpha = p.values[1].As<T>();
  }
  return {0, multiplier};
}

Plan PlanProduct(const Params& p, bool added) {
  Status status;
  const Product* product = CurrentProduct(&status);
  const bool doubles = std::any_of(p.tensors.begin(), p.tensors.end(), [](const Operand& tensor) {
    return DomainOf(tensor.dtype()) == Domain::kDouble;
  });
  if (doubles || product == nullptr) return MakeProduct<double>(p, Rounding::kNone, added);
  return MakeProduct<float>(p, RoundingOf(p.integers[0], product->family), added);
}

void CheckProduct(const Params& p, const Operand& self, const Operand& mat2, Checker& checker) {
  Shape batch, result;
  checker.That(MultiplyShapes(self, mat2, &batch, &result), [&] {
    return Concat(mat2.name(), " shape is ", ShapeText(mat2), ", expected one that ", self.name(),
                  ", ", ShapeText(self), ", can be multiplied with");
  });
  if (!checker.ok()) return;
  CheckShape(p.out(), result, checker);
  checker.That(p.integers[0] >= 0 && p.integers[0] <= 3, [&] {
    return Concat("cubeMathType value is ", p.integers[0], ", expected 0, 1, 2 or 3");
  });
}

void CheckAdded(const Params& p, uint32_t rank, Checker& checker) {
  const Operand& self = p.tensors[0];
  checker.Rank(p.tensors[1], rank).Rank(p.tensors[2], rank);
  if (checker.ok()) CheckProduct(p, p.tensors[1], p.tensors[2], checker);
  if (!checker.ok()) return;
  Shape shape = ShapeOf(p.out());
  checker.That(BroadcastShape(self, &shape) && shape == ShapeOf(p.out()), [&] {
    return Concat("self shape is ", ShapeText(self), ", expected one that can be broadcast to ",
                  ShapeText(p.out()));
  });
}

}  // namespace

void CheckMatmul(const Params& p, Checker& checker) {
  CheckProduct(p, p.tensors[0], p.tensors[1], checker);
}

void CheckMm(const Params& p, Checker& checker) {
  checker.Rank(p.tensors[0], 2).Rank(p.tensors[1], 2);
  if (checker.ok()) CheckMatmul(p, checker);
}

void CheckBatchMatMul(const Params& p, Checker& checker) {
  checker.Rank(p.tensors[0], 3).Rank(p.tensors[1], 3);
  if (checker.ok()) CheckMatmul(p, checker);
}

void CheckAddmm(const Params& p, Checker& checker) { CheckAdded(p, 2, checker); }

void CheckBaddbmm(const Params& p, Checker& checker) { CheckAdded(p, 3, checker); }

Plan PlanMatmul(const Params& p) { return PlanProduct(p, false); }

Plan PlanAddmm(const Params& p) { return PlanProduct(p, true); }

}  // namespace openaclnn::supporting
