// SPDX-License-Identifier: Apache-2.0
// TransposeBatchMatMul: products of batches that lie between the rows.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "generated/matmul.h"
#include "supporting/in_turn.h"
#include "supporting/matmul/matmul.h"
#include "supporting/promotion.h"

namespace openaclnn::supporting {
namespace {

using Order = std::vector<int64_t>;

std::string OrderText(const IntList& list) {
  return ShapeText(list.values().data(), static_cast<uint32_t>(list.values().size()));
}

void CheckOrder(const IntList& list, std::initializer_list<Order> orders, const char* words,
                Checker& checker) {
  const Order given(list.values().begin(), list.values().end());
  checker.That(std::find(orders.begin(), orders.end(), given) != orders.end(), [&] {
    return Concat(list.name(), " value is ", OrderText(list), ", expected ", words);
  });
}

/// A factor with its batches first.
Matrix FactorOf(const Tensor& tensor, const IntList& order) {
  const auto step = [&](size_t i) { return tensor.tensor().strides[order.values()[i]]; };
  Matrix matrix;
  matrix.place = tensor.place;
  matrix.dtype = tensor.dtype();
  matrix.element_bytes = BytesOf(tensor);
  matrix.batch = {0, step(0)};
  matrix.row_step = step(1);
  matrix.column_step = step(2);
  return matrix;
}

/// Lengths of x by the order.
int64_t Length(const Tensor& tensor, const IntList& order, size_t i) {
  return tensor.dim(static_cast<uint32_t>(order.values()[i]));
}

}  // namespace

void CheckTransposeBatchMatMul(const TransposeBatchMatMulParams& p, Checker& checker) {
  checker.Rank(p.x1, 3).Rank(p.x2, 3).Rank(p.out, 3);
  checker.SameDtype(p.x2, p.x1).SameDtype(p.out, p.x1);
  for (const Tensor* each : {&p.biasOptional, &p.scaleOptional}) {
    checker.That(!each->present(), [&] {
      return Concat(each->name(),
                    " value is a tensor, expected null: neither a bias nor a result of",
                    " INT8 is taken");
    });
  }
  CheckOrder(p.permX1, {{0, 1, 2}, {1, 0, 2}}, "(0, 1, 2) or (1, 0, 2)", checker);
  CheckOrder(p.permX2, {{0, 1, 2}}, "(0, 1, 2)", checker);
  CheckOrder(p.permY, {{1, 0, 2}}, "(1, 0, 2)", checker);
  if (!checker.ok()) return;
  const int64_t batches = Length(p.x1, p.permX1, 0), rows = Length(p.x1, p.permX1, 1);
  const int64_t terms = Length(p.x1, p.permX1, 2), columns = p.x2.dim(2);
  checker.That(p.x2.dim(0) == batches && p.x2.dim(1) == terms, [&] {
    return Concat("x2 shape is ", ShapeText(p.x2), ", expected ", batches, " matrices of ", terms,
                  " rows as x1 has columns, ", ShapeText(p.x1));
  });
  const int64_t parts = p.batchSplitFactor;
  checker.That(parts > 0 && batches % parts == 0, [&] {
    return Concat("batchSplitFactor value is ", parts, ", expected a divisor of ", batches,
                  ", the number of matrices");
  });
  if (!checker.ok()) return;
  CheckShape(p.out,
             parts == 1 ? Shape{rows, batches, columns}
                        : Shape{parts, rows, WrappingProduct(batches / parts, columns)},
             checker);
}

Plan PlanTransposeBatchMatMul(const TransposeBatchMatMulParams& p, const Product& on) {
  if (p.out.empty()) return Nothing();
  const int64_t parts = p.batchSplitFactor, batches = Length(p.x1, p.permX1, 0);
  const int64_t own = batches / parts;  // of a part
  const int64_t* const steps = p.out.tensor().strides;
  MatrixProduct product;
  product.batch = {parts, own};
  product.rows = Length(p.x1, p.permX1, 1);
  product.terms = Length(p.x1, p.permX1, 2);
  product.columns = p.x2.dim(2);
  product.a = FactorOf(p.x1, p.permX1);
  product.b = FactorOf(p.x2, p.permX2);
  for (Matrix* matrix : {&product.a, &product.b}) matrix->batch[0] = own * matrix->batch[1];
  product.c.place = p.out.place;
  product.c.dtype = p.out.dtype();
  product.c.element_bytes = BytesOf(p.out);
  if (parts == 1) {
    product.c.batch = {0, steps[1]};
    product.c.row_step = steps[0];
  } else {
    product.c.batch = {steps[0], product.columns * steps[2]};
    product.c.row_step = steps[1];
  }
  product.c.column_step = steps[2];
  const auto rounding = [&](const Matrix& matrix) {
    return RoundingOf(matrix.dtype, p.cubeMathType, on).value_or(Rounding::kNone);
  };
  const Gemm gemm = GemmOf(product, rounding(product.a), rounding(product.b));
  const Place x1 = p.x1.place, x2 = p.x2.place, out = p.out.place;
  return {gemm.scratch_bytes(), [=](const Buffers& buffers) -> Status {
            RunGemm(gemm, x1(buffers), x2(buffers), nullptr, out(buffers), buffers.workspace);
            return {};
          }};
}

}  // namespace openaclnn::supporting
