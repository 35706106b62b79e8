// SPDX-License-Identifier: Apache-2.0
// Dot and Mv: of floats in double by the tree of a row. Dot of integers in 64 bits.
#include <algorithm>
#include <vector>

#include "generated/matmul.h"
#include "kernels/move/broadcast.h"
#include "kernels/number/rounding.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

bool IsOfIntegers(const MatmulParams& p) { return Contains(kIntegerTypes, p.self.dtype()); }

/// A vector's elements in double.
struct Vector {
  explicit Vector(const Tensor& tensor)
      : place(tensor.place),
        step(tensor.tensor().strides[0] * BytesOf(tensor)),
        load(LoaderOf<double>(tensor.dtype())) {}

  void Load(const Buffers& buffers, int64_t begin, int64_t n, double* to) const {
    load(place(buffers) + begin * step, step, n, to);
  }

  Place place;
  int64_t step;  // in bytes
  LoadRow<double> load;
};

/// Blocks of the tree, each on one thread, then those pairwise.
Plan PlanDotOfReals(const MatmulParams& p) {
  return {0,
          [=, a = Vector(p.self), b = Vector(p.mat2), n = p.self.dim(0), out = p.out.place,
           store = StorerOf<double>(p.out.dtype()),
           kernels = OPENACLNN_TARGET_SELECT(kDoubleRowKernels)](const Buffers& buffers) -> Status {
            const int64_t blocks = DivideUp(n, kRowBlock);
            std::vector<double> sums(static_cast<size_t>(blocks));
            ParallelRows(blocks, kRowBlock, [&](int64_t block) {
              const int64_t begin = block * kRowBlock, count = std::min(kRowBlock, n - begin);
              double left[kRowBlock], right[kRowBlock];
              a.Load(buffers, begin, count, left);
              b.Load(buffers, begin, count, right);
              sums[static_cast<size_t>(block)] = kernels->products(left, right, count);
            });
            const auto sum = [&](int64_t block) { return sums[static_cast<size_t>(block)]; };
            const double total = blocks > 0 ? SumParts(0, blocks, sum) : 0;
            store(&total, 1, out(buffers), 0);
            return {};
          }};
}

/// Rows of FLOAT that lie in one piece, and a vector: sums in double by the tree of a row.
Plan PlanRowsByVector(const MatmulParams& p) {
  const Tensor& self = p.self;
  return {0,
          [=, rows = self.dim(0), n = self.dim(1), vector = Vector(p.mat2), view = RowView(self),
           self_at = self.place, out_at = p.out.place,
           out_step = p.out.tensor().strides[0] * BytesOf(p.out),
           load = LoaderOf<double>(self.dtype()), store = StorerOf<double>(p.out.dtype()),
           kernels = OPENACLNN_TARGET_SELECT(kDoubleRowKernels)](const Buffers& buffers) -> Status {
            std::vector<double> factors(static_cast<size_t>(n));
            vector.Load(buffers, 0, n, factors.data());
            ParallelRowsIn<std::vector<double>>(rows, n, [&](int64_t row, auto* values) {
              values->resize(static_cast<size_t>(n));
              load(view.Row(self_at(buffers), row), view.element_bytes, n, values->data());
              const double sum = kernels->products(values->data(), factors.data(), n);
              store(&sum, 1, out_at(buffers) + row * out_step, 0);
            });
            return {};
          }};
}

}  // namespace

void CheckDot(const MatmulParams& p, Checker& checker) {
  if (IsOfIntegers(p)) checker.SameDtype(p.mat2, p.self).SameDtype(p.out, p.self);
  for (const Tensor* each : {&p.mat2, &p.out}) {
    checker.That(IsOfIntegers(p) || Contains(kRealTypes, each->dtype()),
                 [&] { return DtypeIs(*each, DtypesText(kRealTypes)); });
  }
  checker.Rank(p.self, 1).Rank(p.mat2, 1);
  if (checker.ok()) CheckMatmul(p, checker);
}

Plan PlanDot(const MatmulParams& p, const Product&) {
  if (!IsOfIntegers(p)) return PlanDotOfReals(p);
  const std::array<const Operand*, 2> views = {&p.self, &p.mat2};
  const Walk walk(ShapeOf(p.self), views);
  return {0,
          [=, load = LoaderOf<int64_t>(p.self.dtype()), store = StorerOf<int64_t>(p.out.dtype()),
           self = p.self.place, other = p.mat2.place,
           out = p.out.place](const Buffers& buffers) -> Status {
            uint64_t sum = 0;
            walk.ForRunsInOrder(
                {self(buffers), other(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
                  int64_t a[Walk::kRun], b[Walk::kRun];
                  load(at[0], walk.step(0), n, a);
                  load(at[1], walk.step(1), n, b);
                  for (int64_t i = 0; i < n; ++i) {
                    sum += static_cast<uint64_t>(a[i]) * static_cast<uint64_t>(b[i]);
                  }
                });
            const auto total = static_cast<int64_t>(sum);
            store(&total, 1, out(buffers), 0);
            return {};
          }};
}

/// A product that a tensor core would round stays a product of matrices.
Plan PlanMv(const MatmulParams& p, const Product& product) {
  const bool floats = p.self.dtype() == ACL_FLOAT && p.mat2.dtype() == ACL_FLOAT;
  const bool rounds =
      RoundingOf(ACL_FLOAT, p.cubeMathType, product).value_or(Rounding::kNone) != Rounding::kNone;
  const bool is_row_major =
      p.self.rank() == 2 && p.mat2.rank() == 1 && p.self.tensor().strides[1] == 1 && !p.out.empty();
  return floats && !rounds && is_row_major ? PlanRowsByVector(p) : PlanMatmul(p, product);
}

}  // namespace openaclnn::supporting
