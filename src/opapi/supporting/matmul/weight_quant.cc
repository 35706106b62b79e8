// SPDX-License-Identifier: Apache-2.0
// WeightQuantBatchMatmul: products with weights of INT8 or INT4, which become floats in the
// workspace.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "ascendcl/packed.h"
#include "generated/matmul.h"
#include "kernels/rows/rows.h"
#include "kernels/work/scratch.h"
#include "supporting/in_turn.h"
#include "supporting/matmul/matmul.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kGroup = 32;  // groups are multiples of

/// Along which dimension an element of INT32 holds its numbers: rows only where x says so.
bool HoldsTerms(const WeightQuantBatchMatmulV2Params& p) {
  return p.weight.dtype() == ACL_INT32 && p.weight.dim(0) != p.x.dim(1);
}
int64_t TermsOf(const WeightQuantBatchMatmulV2Params& p) {
  return p.weight.dim(0) * (HoldsTerms(p) ? kEight : 1);
}
int64_t ColumnsOf(const WeightQuantBatchMatmulV2Params& p) {
  const bool holds = p.weight.dtype() == ACL_INT32 && !HoldsTerms(p);
  return p.weight.dim(1) * (holds ? kEight : 1);
}

int64_t GroupsOf(const WeightQuantBatchMatmulV2Params& p) {
  const int64_t terms = TermsOf(p), size = p.antiquantGroupSize;
  return size == 0 ? 1 : terms / size + (terms % size != 0 ? 1 : 0);
}

/// A number for each group of terms and column, for each column, or for all.
struct Factors {
  explicit Factors(const Tensor& tensor) : place(tensor.place) {
    if (!tensor.present() || tensor.empty()) return;
    load = LoaderOf<float>(tensor.dtype());
    const int64_t* const strides = tensor.tensor().strides;
    const int64_t bytes = BytesOf(tensor);
    if (tensor.count() == 1) return;
    column_step = strides[tensor.rank() - 1] * bytes;
    if (tensor.rank() == 2 && tensor.dim(0) > 1) group_step = strides[0] * bytes;
  }

  /// Loads one group's columns, or one column's groups; zeros where there is no tensor.
  void Load(const Buffers& buffers, bool by_columns, int64_t line, int64_t n, float* to) const {
    if (load == nullptr) return;
    const std::byte* const from = place(buffers) + line * (by_columns ? column_step : group_step);
    load(from, by_columns ? group_step : column_step, n, to);
  }

  Place place;
  LoadRow<float> load = nullptr;
  int64_t group_step = 0, column_step = 0;  // in bytes
};

/// n elements of INT4: the one at `first`, and those `step` apart, counted from the low half of a
/// byte.
void LoadHalves(const std::byte* bytes, int64_t first, int64_t step, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = first + i * step;
    const auto byte = std::to_integer<unsigned>(bytes[at >> 1]);
    to[i] = static_cast<float>(Int4Of((at & 1) != 0 ? byte >> 4 : byte));
  }
}

/// (weight + offset) * scale, in FLOAT, in the order in which the weights lie.
struct Weights {
  explicit Weights(const WeightQuantBatchMatmulV2Params& p)
      : place(p.weight.place),
        load(p.weight.dtype() == ACL_INT8 ? LoaderOf<float>(ACL_INT8) : nullptr),
        terms(TermsOf(p)),
        columns(ColumnsOf(p)),
        term_step(p.weight.tensor().strides[0]),
        column_step(p.weight.tensor().strides[1]),
        by_columns(std::abs(term_step) < std::abs(column_step)),
        group(p.antiquantGroupSize == 0 ? std::max<int64_t>(terms, 1) : p.antiquantGroupSize),
        groups(GroupsOf(p)),
        scale(p.antiquantScale),
        offset(p.antiquantOffsetOptional) {
    if (p.weight.dtype() != ACL_INT32) return;
    // Neighbours within an element are those of INT4.
    (HoldsTerms(p) ? column_step : term_step) *= kEight;
    by_columns = HoldsTerms(p);
  }

  uint64_t bytes() const { return ScratchBytes(__int128{terms} * columns * int{sizeof(float)}); }

  /// In the place of the weights of a product, where these are the floats.
  Matrix Floats(Matrix matrix) const {
    matrix.dtype = ACL_FLOAT;
    matrix.element_bytes = sizeof(float);
    matrix.row_step = by_columns ? 1 : columns;
    matrix.column_step = by_columns ? terms : 1;
    return matrix;
  }

  void Fill(const Buffers& buffers, float* to) const {
    const int64_t lines = by_columns ? columns : terms, width = by_columns ? terms : columns;
    const int64_t step = by_columns ? term_step : column_step;
    const int64_t numbers = by_columns ? groups : columns;
    ParallelRows(lines, width, [&](int64_t line) {
      std::vector<float> scales(static_cast<size_t>(numbers)), offsets(scales.size());
      const int64_t at = by_columns ? line : line / group;
      scale.Load(buffers, by_columns, at, numbers, scales.data());
      offset.Load(buffers, by_columns, at, numbers, offsets.data());
      float* const row = to + line * width;
      const int64_t first = line * (by_columns ? column_step : term_step);
      load != nullptr ? load(place(buffers) + first, step, width, row)
                      : LoadHalves(place(buffers), first, step, width, row);
      for (int64_t i = 0; i < width; ++i) {
        const auto k = static_cast<size_t>(by_columns ? i / group : i);
        row[i] = (row[i] + offsets[k]) * scales[k];
      }
    });
  }

  Place place;
  LoadRow<float> load;                             // null for INT4, also in INT32
  int64_t terms, columns, term_step, column_step;  // steps in elements
  bool by_columns;
  int64_t group, groups;
  Factors scale, offset;
};

void CheckFactors(const WeightQuantBatchMatmulV2Params& p, const Tensor& factors,
                  Checker& checker) {
  const int64_t groups = GroupsOf(p), columns = ColumnsOf(p);
  const bool for_each = p.antiquantGroupSize == 0 && factors.rank() == 1;
  const bool one = p.antiquantGroupSize == 0 && factors.count() == 1 && factors.rank() <= 2;
  checker.SameDtype(factors, p.x);
  if (!one) CheckShape(factors, for_each ? Shape{columns} : Shape{groups, columns}, checker);
}

void CheckGroup(const WeightQuantBatchMatmulV2Params& p, Checker& checker) {
  const int64_t group = p.antiquantGroupSize, terms = TermsOf(p);
  checker.That(group == 0 || (group > 0 && group % kGroup == 0 && group < terms), [&] {
    return Concat("antiquantGroupSize value is ", group, ", expected 0 or a multiple of ", kGroup,
                  " below ", terms, ", the rows of weight");
  });
}

}  // namespace

void CheckWeightQuantBatchMatmulV2(const WeightQuantBatchMatmulV2Params& p, Checker& checker) {
  constexpr DtypeSet kHalves = Dtypes(ACL_FLOAT16, ACL_BF16);
  const Tensor &x = p.x, &weight = p.weight, &bias = p.biasOptional;
  checker.That(Contains(kHalves, x.dtype()), [&] { return DtypeIs(x, DtypesText(kHalves)); });
  constexpr DtypeSet kWhole = Dtypes(ACL_INT8, ACL_INT4, ACL_INT32);
  checker.That(Contains(kWhole, weight.dtype()),
               [&] { return DtypeIs(weight, DtypesText(kWhole)); });
  checker.Rank(x, 2).Rank(weight, 2).SameDtype(p.y, x);
  if (!checker.ok()) return;
  for (const Tensor* quantised : {&p.quantScaleOptional, &p.quantOffsetOptional}) {
    checker.That(!quantised->present(), [&] {
      return Concat(quantised->name(), " value is a tensor, expected null: results are floats");
    });
  }
  checker.That(x.dim(1) == TermsOf(p), [&] {
    return Concat("weight shape is ", ShapeText(weight), ", expected ", x.dim(1),
                  " rows as x has columns, ", ShapeText(x));
  });
  checker.That(weight.dtype() != ACL_INT32 || weight.empty() ||
                   weight.tensor().strides[HoldsTerms(p) ? 0 : 1] == 1,
               [&] {
                 return Concat("weight strides are ",
                               ShapeText(weight.given_strides(), weight.rank()), " for shape ",
                               ShapeText(weight),
                               ", expected neighbours along the dimension in"
                               " which an element of INT32 holds ",
                               kEight, " INT4");
               });
  CheckGroup(p, checker);
  checker.That(weight.dtype() != ACL_INT4 || weight.empty() || PairedDim(weight.tensor()), [&] {
    return Concat("weight strides are ", ShapeText(weight.given_strides(), weight.rank()),
                  " for shape ", ShapeText(weight), " and offset ", weight.tensor().offset,
                  ", expected two neighbours in each byte of INT4: a dimension of even length with"
                  " stride 1, and all else even");
  });
  if (!checker.ok()) return;
  CheckFactors(p, p.antiquantScale, checker);
  if (p.antiquantOffsetOptional.present()) CheckFactors(p, p.antiquantOffsetOptional, checker);
  if (bias.present()) {
    const int64_t columns = ColumnsOf(p);
    checker.That(Contains(kFloatTypes, bias.dtype()),
                 [&] { return DtypeIs(bias, DtypesText(kFloatTypes)); });
    CheckShape(bias, bias.rank() == 1 ? Shape{columns} : Shape{1, columns}, checker);
  }
  CheckShape(p.y, {x.dim(0), ColumnsOf(p)}, checker);
}

Plan PlanWeightQuantBatchMatmulV2(const WeightQuantBatchMatmulV2Params& p, const Product&) {
  if (p.y.empty()) return Nothing();
  const Weights weights(p);
  MatrixProduct product = ProductOf(p.x, p.weight, p.y);
  product.columns = weights.columns;
  product.b = weights.Floats(product.b);
  if (p.biasOptional.present()) {
    product.added = ResultOf(p.biasOptional, p.y, true, true);
    product.beta = 1;
  }
  const bool mirrored = MirrorIfFew(&product);
  const Gemm gemm = GemmOf(product, Rounding::kNone, Rounding::kNone);
  ScratchParts parts;
  parts.Take(weights.bytes());
  const uint64_t scratch = parts.Take(gemm.scratch_bytes());
  const Place x = p.x.place, bias = p.biasOptional.place, y = p.y.place;
  return {parts.bytes(), [=](const Buffers& buffers) -> Status {
            auto* const room = static_cast<std::byte*>(buffers.workspace);
            weights.Fill(buffers, reinterpret_cast<float*>(room));
            const void* const left = mirrored ? room : x(buffers);
            const void* const right = mirrored ? x(buffers) : room;
            RunGemm(gemm, left, right, gemm.adds ? bias(buffers) : nullptr, y(buffers),
                    room + scratch);
            return {};
          }};
}

}  // namespace openaclnn::supporting
