// SPDX-License-Identifier: Apache-2.0
// Products of matrices: FLOAT, FLOAT16 and BFLOAT16 by the shared kernel, DOUBLE by plain loops.
#include "supporting/matmul/matmul.h"

#include <algorithm>

#include "generated/matmul.h"
#include "kernels/gemm/gemm.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"
#include "supporting/promotion.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

// Products of at most so many columns are computed as their mirror images. Speed of these, with 1
// to 4 columns: 1.0 to 1.6, 6: 0.75 to 0.92, 8: 0.74 to 1.15, 12: 0.6 to 1.0.
constexpr int64_t kFewColumns = 4;
// The limit where A's columns are closer than its rows. With 4 to 12 columns: 1.6 to 3.4, 16: 1.0,
// 20: 0.93.
constexpr int64_t kFewColumnsByColumns = 12;

/// The shape with vectors made matrices, or nothing for a scalar.
Shape MatrixShape(const Operand& operand, bool left) {
  Shape shape = ShapeOf(operand);
  if (shape.size() == 1) shape.insert(left ? shape.begin() : shape.end(), 1);
  return shape;
}

Matrix Describe(const Tensor& tensor) {
  Matrix matrix;
  matrix.place = tensor.place;
  matrix.dtype = tensor.dtype();
  matrix.element_bytes = static_cast<int64_t>(FindDataType(matrix.dtype)->bytes);
  return matrix;
}

/// A factor; its batches are broadcast.
Matrix FactorOf(const Tensor& operand, bool left, const Shape& batch) {
  const uint32_t rank = operand.rank();
  const auto* strides = operand.tensor().strides;
  Matrix matrix = Describe(operand);
  matrix.batch.resize(batch.size());
  if (rank == 1) {
    (left ? matrix.column_step : matrix.row_step) = strides[0];
    return matrix;
  }
  matrix.row_step = strides[rank - 2];
  matrix.column_step = strides[rank - 1];
  const size_t before = batch.size() - (rank - 2);
  for (uint32_t i = 0; i + 2 < rank; ++i) {
    if (operand.dim(i) != 1) matrix.batch[before + i] = strides[i];
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

uint64_t Magnitude(int64_t step) {
  return step < 0 ? -static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
}

/// A factor as the kernel reads it: along rows, or along columns where their elements are closer.
TapMatrix TapsOf(const Matrix& matrix, int64_t rows, int64_t columns, bool by_columns) {
  TapMatrix taps = {};
  const int64_t step = by_columns ? matrix.column_step : matrix.row_step;
  taps.view.rows = Offsets(by_columns ? &columns : &rows, &step, 1);
  taps.view.step = by_columns ? matrix.row_step : matrix.column_step;
  taps.view.element_bytes = matrix.element_bytes;
  taps.dtype = matrix.dtype;
  taps.width = std::max<int64_t>(by_columns ? rows : columns, 1);
  return taps;
}

/// Rows of all batches that `batches` leaves to them, one after the other.
RowView RowsOf(const Matrix& matrix, Shape batch, int64_t rows) {
  Shape steps = matrix.batch;
  steps.resize(batch.size());
  batch.push_back(rows);
  steps.push_back(matrix.row_step);
  RowView view;
  view.rows = Offsets(batch.data(), steps.data(), static_cast<uint32_t>(batch.size()));
  view.step = matrix.column_step;
  view.element_bytes = matrix.element_bytes;
  return view;
}

void Mirror(MatrixProduct* product) {
  for (Matrix* matrix : {&product->a, &product->b, &product->c, &product->added}) {
    std::swap(matrix->row_step, matrix->column_step);
  }
  std::swap(product->a, product->b);
  std::swap(product->rows, product->columns);
}

bool HasDoubles(const Params& p) {
  return std::any_of(p.tensors.begin(), p.tensors.end(), [](const Operand& tensor) {
    return DomainOf(tensor.dtype()) == Domain::kDouble;
  });
}

Plan PlanProduct(const Params& p, MatrixProduct product, int64_t cube_math_type,
                 const Product& on) {
  if (HasDoubles(p)) {
    return {0, [product](const Buffers& buffers) { return MultiplyDoubles(product, buffers); }};
  }
  const auto rounding = [&](const Matrix& matrix) {
    return RoundingOf(matrix.dtype, cube_math_type, on).value_or(Rounding::kNone);
  };
  MirrorIfFew(&product);
  const Gemm gemm = GemmOf(product, rounding(product.a), rounding(product.b));
  const auto run = [gemm, product](const Buffers& buffers) {
    const auto data = [&](const Matrix& matrix) { return matrix.place(buffers); };
    RunGemm(gemm, data(product.a), data(product.b), data(product.added), data(product.c),
            buffers.workspace);
    return Status();
  };
  return {gemm.scratch_bytes(), run};
}

void CheckProduct(const Tensor& self, const Tensor& mat2, const Tensor& out, Checker& checker) {
  Shape batch, result;
  checker.That(MultiplyShapes(self, mat2, &batch, &result), [&] {
    return Concat(mat2.name(), " shape is ", ShapeText(mat2), ", expected one that ", self.name(),
                  ", ", ShapeText(self), ", can be multiplied with");
  });
  if (!checker.ok()) return;
  CheckShape(out, result, checker);
}

void CheckSummand(const Tensor& self, const Tensor& out, Checker& checker) {
  Shape shape = ShapeOf(out);
  checker.That(BroadcastShape(self, &shape) && shape == ShapeOf(out), [&] {
    return Concat("self shape is ", ShapeText(self), ", expected one that can be broadcast to ",
                  ShapeText(out));
  });
}

void CheckAdded(const AddmmParams& p, uint32_t rank, Checker& checker) {
  checker.Rank(p.mat1, rank).Rank(p.mat2, rank);
  if (checker.ok()) CheckProduct(p.mat1, p.mat2, p.out, checker);
  if (checker.ok()) CheckSummand(p.self, p.out, checker);
}

/// Rows of all matrices of a tensor, one after the other, as one matrix. An element of a row has
/// `step` between it and the next.
TapMatrix RowsOfBatches(const Tensor& tensor) {
  const auto* const strides = tensor.tensor().strides;
  TapMatrix taps = {};
  taps.view.rows = Offsets(tensor.tensor().dims, strides, 2);
  taps.view.step = strides[2];
  taps.view.element_bytes = BytesOf(tensor);
  taps.dtype = tensor.dtype();
  taps.width = std::max<int64_t>(tensor.dim(2), 1);
  return taps;
}

/// The sum over batches in double. A product's terms are those of all batches.
Plan SumDoubles(const AddmmParams& p, double alpha, double beta) {
  const Elements left(p.mat1, 0), right(p.mat2, 0), to(p.out, 0);
  const Matrix added = ResultOf(p.self, p.out, true, true);
  const int64_t batches = p.mat1.dim(0), rows = p.mat1.dim(1), terms = p.mat1.dim(2),
                columns = p.mat2.dim(2);
  const auto load = LoaderOf<double>(added.dtype);
  return {
      0, [=](const Buffers& buffers) -> Status {
        const std::vector<double> a = left.All(buffers), b = right.All(buffers);
        ParallelRows(rows, batches * terms * columns, [&](int64_t row) {
          for (int64_t column = 0; column < columns; ++column) {
            TreeSum<double> sum;
            for (int64_t k = 0; k < batches * terms; ++k) {
              const int64_t at = (k / terms * rows + row) * terms + k % terms;
              sum.Add(a[static_cast<size_t>(at)] * b[static_cast<size_t>(k * columns + column)]);
            }
            double value = alpha * sum.Total(), other = 0;
            if (beta != 0) {
              const int64_t place = row * added.row_step + column * added.column_step;
              load(added.place(buffers) + place * added.element_bytes, 0, 1, &other);
              value += beta * other;
            }
            to.Set(buffers, row * columns + column, value);
          }
        });
        return {};
      }};
}

/// The factors of the summand and of the product, in the type that all operands meet in.
template <class P>
void Weigh(const P& p, const Tensor& a, const Tensor& b, MatrixProduct* sum) {
  const int32_t type = MetType(MetType(a.dtype(), b.dtype()), p.self.dtype());
  sum->beta = p.beta.In(type).template As<double>();
  sum->alpha = p.alpha.In(type).template As<double>();
}

}  // namespace

Matrix ResultOf(const Tensor& operand, const Tensor& out, bool has_rows, bool has_columns) {
  Matrix matrix = Describe(operand);
  const uint32_t before = out.rank() - operand.rank();
  for (uint32_t i = 0; i < out.rank(); ++i) {
    const bool repeats = i < before || (operand.dim(i - before) == 1 && out.dim(i) != 1);
    matrix.batch.push_back(repeats ? 0 : operand.tensor().strides[i - before]);
  }
  const auto take = [&](bool has) {
    if (!has) return int64_t{0};
    const int64_t step = matrix.batch.back();
    matrix.batch.pop_back();
    return step;
  };
  matrix.column_step = take(has_columns);
  matrix.row_step = take(has_rows);
  return matrix;
}

MatrixProduct ProductOf(const Tensor& a, const Tensor& b, const Tensor& out) {
  MatrixProduct product;
  Shape result;
  MultiplyShapes(a, b, &product.batch, &result);
  product.rows = a.rank() > 1 ? a.dim(a.rank() - 2) : 1;
  product.terms = a.last_dim();
  product.columns = b.rank() > 1 ? b.last_dim() : 1;
  product.a = FactorOf(a, true, product.batch);
  product.b = FactorOf(b, false, product.batch);
  product.c = ResultOf(out, out, a.rank() > 1, b.rank() > 1);
  return product;
}

bool ByColumns(const Matrix& matrix) {
  return Magnitude(matrix.row_step) < Magnitude(matrix.column_step);
}

bool MirrorIfFew(MatrixProduct* product) {
  const int64_t few = ByColumns(product->a) ? kFewColumnsByColumns : kFewColumns;
  const bool mirrored = product->columns <= few && product->columns < product->rows;
  if (mirrored) Mirror(product);
  return mirrored;
}

Gemm GemmOf(const MatrixProduct& product, Rounding round_a, Rounding round_b) {
  Gemm gemm = {};
  const int64_t batches = CountOf(product.batch);
  if (batches == 0 || product.rows == 0 || product.columns == 0) return gemm;
  const bool a_by_columns = product.rows > 1 && ByColumns(product.a);
  const bool b_by_columns = product.columns > 1 && ByColumns(product.b);
  gemm.b = TapsOf(product.b, product.terms, product.columns, b_by_columns);
  gemm.b.transposed = b_by_columns;
  gemm.a = TapsOf(product.a, product.rows, product.terms, a_by_columns);
  gemm.a.transposed = a_by_columns;
  gemm.a.rounding = round_a;
  gemm.b.rounding = round_b;
  gemm.c_dtype = product.c.dtype;
  gemm.adds = product.beta != 0;
  gemm.added.dtype = product.added.dtype;
  gemm.alpha = static_cast<float>(product.alpha);
  gemm.beta = static_cast<float>(product.beta);
  gemm.terms = product.terms;
  gemm.columns = product.columns;
  // Batches of the same right factor are rows of one product.
  Shape rows_batch;
  gemm.batches.b = product.b.BatchOffsets(product.batch);
  if (gemm.batches.b.constant() && !a_by_columns) {
    rows_batch = product.batch;
    gemm.a.view = RowsOf(product.a, rows_batch, product.rows);
  } else {
    gemm.batches.count = batches;
    gemm.batches.a = product.a.BatchOffsets(product.batch);
    gemm.batches.c = product.c.BatchOffsets(product.batch);
    if (gemm.adds) gemm.batches.added = product.added.BatchOffsets(product.batch);
  }
  gemm.c = RowsOf(product.c, rows_batch, product.rows);
  if (gemm.adds) gemm.added.view = RowsOf(product.added, rows_batch, product.rows);
  gemm.rows = RowsOfAll(product.rows * CountOf(rows_batch), product.terms);
  PlanGemm(&gemm);
  return gemm;
}

void CheckMatmul(const MatmulParams& p, Checker& checker) {
  CheckProduct(p.self, p.mat2, p.out, checker);
}

void CheckMm(const MatmulParams& p, Checker& checker) {
  checker.Rank(p.self, 2).Rank(p.mat2, 2);
  if (checker.ok()) CheckMatmul(p, checker);
}

void CheckBatchMatMul(const MatmulParams& p, Checker& checker) {
  checker.Rank(p.self, 3).Rank(p.mat2, 3);
  if (checker.ok()) CheckMatmul(p, checker);
}

void CheckAddmm(const AddmmParams& p, Checker& checker) { CheckAdded(p, 2, checker); }

void CheckBaddbmm(const AddmmParams& p, Checker& checker) { CheckAdded(p, 3, checker); }

void CheckAddmv(const AddmvParams& p, Checker& checker) {
  checker.Rank(p.mat, 2).Rank(p.vec, 1);
  if (checker.ok()) CheckProduct(p.mat, p.vec, p.out, checker);
  if (checker.ok()) CheckSummand(p.self, p.out, checker);
}

Plan PlanMatmul(const MatmulParams& p, const Product& product) {
  return PlanProduct(p, ProductOf(p.self, p.mat2, p.out), p.cubeMathType, product);
}

Plan PlanAddmm(const AddmmParams& p, const Product& product) {
  MatrixProduct sum = ProductOf(p.mat1, p.mat2, p.out);
  sum.added = ResultOf(p.self, p.out, true, true);
  Weigh(p, p.mat1, p.mat2, &sum);
  return PlanProduct(p, sum, p.cubeMathType, product);
}

void CheckAddbmm(const AddmmParams& p, Checker& checker) {
  const Tensor &left = p.mat1, &right = p.mat2;
  checker.Rank(left, 3).Rank(right, 3);
  checker.That(left.dim(0) == right.dim(0) && left.dim(2) == right.dim(1), [&] {
    return Concat(right.name(), " shape is ", ShapeText(right), ", expected (", left.dim(0), ", ",
                  left.dim(2), ", columns) beside ", left.name(), ", ", ShapeText(left));
  });
  if (!checker.ok()) return;
  CheckShape(p.out, {left.dim(1), right.dim(2)}, checker);
  if (checker.ok()) CheckSummand(p.self, p.out, checker);
}

// The batches' terms are those of one product: a batch is a tap.
Plan PlanAddbmm(const AddmmParams& p, const Product& product) {
  MatrixProduct factors = {};
  Weigh(p, p.mat1, p.mat2, &factors);
  if (p.out.empty()) return Nothing();
  if (HasDoubles(p)) return SumDoubles(p, factors.alpha, factors.beta);
  const auto rounding = [&](const Tensor& tensor) {
    return RoundingOf(tensor.dtype(), p.cubeMathType, product).value_or(Rounding::kNone);
  };
  const Matrix c = ResultOf(p.out, p.out, true, true), added = ResultOf(p.self, p.out, true, true);
  Gemm gemm = {};
  gemm.a = RowsOfBatches(p.mat1);
  gemm.a.step = p.mat1.dim(1);
  gemm.a.rounding = rounding(p.mat1);
  gemm.b = RowsOfBatches(p.mat2);
  gemm.b.rounding = rounding(p.mat2);
  gemm.c_dtype = c.dtype;
  gemm.adds = factors.beta != 0;
  gemm.added.dtype = added.dtype;
  gemm.alpha = static_cast<float>(factors.alpha);
  gemm.beta = static_cast<float>(factors.beta);
  gemm.terms = *p.mat1.count() / p.mat1.dim(1);
  gemm.columns = p.out.dim(1);
  gemm.c = RowsOf(c, {}, p.out.dim(0));
  if (gemm.adds) gemm.added.view = RowsOf(added, {}, p.out.dim(0));
  gemm.rows = RowsOfAll(p.out.dim(0), gemm.terms);
  PlanGemm(&gemm);
  return {gemm.scratch_bytes(),
          [gemm, a = p.mat1.place, b = p.mat2.place, with = p.self.place,
           to = p.out.place](const Buffers& buffers) -> Status {
            RunGemm(gemm, a(buffers), b(buffers), with(buffers), to(buffers), buffers.workspace);
            return {};
          }};
}

Plan PlanAddmv(const AddmvParams& p, const Product& product) {
  MatrixProduct sum = ProductOf(p.mat, p.vec, p.out);
  sum.added = ResultOf(p.self, p.out, true, false);
  Weigh(p, p.mat, p.vec, &sum);
  return PlanProduct(p, sum, p.cubeMathType, product);
}

}  // namespace openaclnn::supporting
