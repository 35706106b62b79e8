// SPDX-License-Identifier: Apache-2.0
// Grouped products of INT8 with what follows them: SwiGLU and quantisation, or the sum for each
// token. Grouped products that are added to what is there.
#include <algorithm>
#include <cmath>

#include "generated/experts.h"
#include "kernels/rows/rows.h"
#include "kernels/work/scratch.h"
#include "supporting/experts/integer_products.h"
#include "supporting/experts/pieces.h"
#include "supporting/experts/quantised.h"
#include "supporting/experts/values.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// The products of a call: x of INT8, (M, K), weights of INT8, (E, K, N), and how rows are grouped.
struct Products {
  Products(const Tensor& x_in, const Tensor& weight_in, const Tensor& list_in, int64_t kind_in)
      : x(x_in, Slicing::kMatrix),
        weight(weight_in, Slicing::kMatrix),
        list(list_in),
        kind(static_cast<GroupSizes::Kind>(kind_in)),
        rows(x_in.dim(0)),
        terms(x_in.dim(1)),
        columns(weight_in.dim(2)),
        groups(weight_in.dim(0)) {
    products = IntegerProducts({{0, 0, rows, columns, terms, x.Of(0), weight.Of(0)}}, rows, groups);
  }

  /// Runs them; finish gets the group, the row and the sums.
  Status Run(const Buffers& buffers, std::byte* scratch,
             const IntegerProducts::Finish& finish) const {
    GroupSizes sizes;
    Status status = GroupSizes::Of("groupList", list.Read(buffers), kind, groups, rows, &sizes);
    if (!status.ok()) return status;
    std::vector<IntegerGroup> each;
    for (const GroupSizes::Part& part : sizes.parts) {
      const auto g = static_cast<size_t>(part.group);
      each.push_back({g, part.begin, part.size, columns, terms,
                      x.Of(buffers, 0).From(part.begin, 0), weight.Of(buffers, g)});
    }
    products.Run(each, scratch, finish);
    return {};
  }

  Pieces x, weight;
  IntegerValues list;
  GroupSizes::Kind kind;
  int64_t rows, terms, columns, groups;
  IntegerProducts products;
};

/// INT8 operands of fitting shapes, and a number for each group.
void CheckProducts(const Tensor& x, const Tensor& weight, const Tensor& list, Checker& checker) {
  for (const Tensor* tensor : {&x, &weight}) {
    checker.That(tensor->dtype() == ACL_INT8, [&] { return DtypeIs(*tensor, "INT8"); });
  }
  checker.Rank(x, 2).Rank(weight, 3);
  if (!checker.ok()) return;
  checker.That(x.dim(1) == weight.dim(1), [&] {
    return Concat(weight.name(), " shape is ", ShapeText(weight), ", expected ", x.dim(1),
                  " rows as x has columns, ", ShapeText(x));
  });
  checker.That(list.dtype() == ACL_INT64, [&] { return DtypeIs(list, "INT64"); });
  CheckShape(list, {weight.dim(0)}, checker);
}

/// The sums of a row times the factors of its columns and of its token.
void Scale(const int32_t* sums, const float* factors, float token, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(sums[i]) * factors[i] * token;
}

void CheckAbsent(const Tensor& tensor, Checker& checker) {
  checker.That(!tensor.present() || tensor.empty(),
               [&] { return Concat(tensor.name(), " value is a tensor, expected null"); });
}

/// A call of either version of GroupedMatmulSwigluQuant.
struct Swiglu {
  const Tensor &x, &weight, &scale, &token_scale, &smooth, &list, &out, &out_scale;
  int64_t list_type;
};

void CheckSwiglu(const Swiglu& p, Checker& checker) {
  CheckProducts(p.x, p.weight, p.list, checker);
  CheckValue(p.list_type == 0 || p.list_type == 1, "groupListType", p.list_type, checker, "0 or 1");
  checker.That(p.out.dtype() == ACL_INT8, [&] { return DtypeIs(p.out, "INT8"); });
  if (!checker.ok()) return;
  const int64_t rows = p.x.dim(0), groups = p.weight.dim(0), columns = p.weight.dim(2);
  checker.That(columns % 2 == 0, [&] {
    return Concat(p.weight.name(), " shape is ", ShapeText(p.weight),
                  ", expected an even number of columns");
  });
  CheckShape(p.scale, {groups, columns}, checker);
  CheckShape(p.token_scale, {rows}, checker);
  CheckShape(p.out, {rows, columns / 2}, checker);
  CheckShape(p.out_scale, {rows}, checker);
  if (p.smooth.present() && checker.ok()) {
    CheckShape(p.smooth, p.smooth.rank() == 1 ? Shape{groups} : Shape{groups, columns / 2},
               checker);
  }
}

Plan MakeSwiglu(const Swiglu& p) {
  const Products products(p.x, p.weight, p.list, p.list_type);
  const TensorValues<float> scales(p.scale), tokens(p.token_scale), smooth(p.smooth),
      out_scales(p.out_scale);
  const TokenRows out(p.out);
  const bool wide = p.smooth.present() && p.smooth.rank() == 2;
  return {products.products.scratch_bytes(), [=](const Buffers& buffers) -> Status {
            const std::vector<float> scale = scales.Read(buffers), token = tokens.Read(buffers),
                                     factor = smooth.Read(buffers);
            std::vector<float> made = out_scales.Read(buffers);  // of other rows they stay
            const int64_t n = products.columns, half = n / 2;
            Status status = products.Run(
                buffers, static_cast<std::byte*>(buffers.workspace),
                [&](size_t group, int64_t row, const int32_t* sums) {
                  std::vector<float> line(static_cast<size_t>(n));
                  Scale(sums, scale.data() + static_cast<int64_t>(group) * n,
                        token[static_cast<size_t>(row)], n, line.data());
                  for (int64_t i = 0; i < half; ++i) {
                    const float x = line[static_cast<size_t>(i)];
                    float y = x / (1 + std::exp(-x)) * line[static_cast<size_t>(half + i)];
                    if (!factor.empty()) {
                      const auto g = static_cast<int64_t>(group);
                      y *= factor[static_cast<size_t>(wide ? g * half + i : g)];
                    }
                    line[static_cast<size_t>(i)] = y;
                  }
                  made[static_cast<size_t>(row)] = QuantiseByLargest(line.data(), half);
                  out.Store(buffers, row, line.data());
                });
            if (status.ok()) out_scales.Write(buffers, made);
            return status;
          }};
}

Swiglu SwigluOf(const GroupedMatmulSwigluQuantParams& p) {
  return {p.x,         p.weight, p.weightScale, p.xScale, NoTensor(),
          p.groupList, p.output, p.outputScale, 0};
}

Swiglu SwigluOf(const GroupedMatmulSwigluQuantV2Params& p) {
  return {p.x,         p.weight[0], p.weightScale[0], p.xScale,       p.smoothScaleOptional,
          p.groupList, p.output,    p.outputScale,    p.groupListType};
}

using F = GroupedMatmulFinalizeRoutingParams;

void CheckFinishShapes(const F& p, Checker& checker) {
  const int64_t rows = p.x1.dim(0), groups = p.x2.dim(0), columns = p.x2.dim(2);
  CheckShape(p.scale, {groups, columns}, checker);
  if (p.biasOptional.present()) CheckShape(p.biasOptional, {groups, columns}, checker);
  if (p.pertokenScaleOptional.present()) CheckShape(p.pertokenScaleOptional, {rows}, checker);
  if (p.logitOptional.present()) CheckShape(p.logitOptional, {rows}, checker);
  CheckShape(p.rowIndexOptional, {rows}, checker);
  CheckIndexType(p.rowIndexOptional, checker);
  checker.Rank(p.out, 2);
  if (!checker.ok()) return;
  CheckShape(p.out, {p.out.dim(0), columns}, checker);
  if (!p.sharedInputOptional.present()) return;
  checker.Rank(p.sharedInputOptional, 2);
  if (!checker.ok()) return;
  const int64_t shared = p.sharedInputOptional.dim(0), most = p.out.dim(0) - shared;
  CheckShape(p.sharedInputOptional, {shared, columns}, checker);
  CheckValue(p.sharedInputOffset >= 0 && p.sharedInputOffset <= most, "sharedInputOffset",
             p.sharedInputOffset, checker, "0 to ", most,
             ", what sharedInputOptional leaves of out");
}

}  // namespace

void CheckGroupedMatmulSwigluQuant(const GroupedMatmulSwigluQuantParams& p, Checker& checker) {
  CheckAbsent(p.biasOptional, checker);
  CheckAbsent(p.offsetOptional, checker);
  if (checker.ok()) CheckSwiglu(SwigluOf(p), checker);
}

Plan PlanGroupedMatmulSwigluQuant(const GroupedMatmulSwigluQuantParams& p, const Product&) {
  return MakeSwiglu(SwigluOf(p));
}

void CheckGroupedMatmulSwigluQuantV2(const GroupedMatmulSwigluQuantV2Params& p, Checker& checker) {
  for (const GivenList* list : {&p.weight, &p.weightScale}) {
    checker.That(list->size == 1,
                 [&] { return Concat(list->name, " size is ", list->size, ", expected 1"); });
  }
  checker.That(p.weightAssistMatrixOptional.size == 0, [&] {
    return Concat("weightAssistMatrixOptional size is ", p.weightAssistMatrixOptional.size,
                  ", expected 0: weights of INT4 are not computed");
  });
  CheckAbsent(p.biasOptional, checker);
  CheckValue(p.dequantMode == 0, "dequantMode", p.dequantMode, checker, "0");
  CheckValue(p.dequantDtype == 0, "dequantDtype", p.dequantDtype, checker, "0, FLOAT");
  CheckValue(p.quantMode == 0, "quantMode", p.quantMode, checker, "0");
  if (checker.ok()) CheckSwiglu(SwigluOf(p), checker);
}

Plan PlanGroupedMatmulSwigluQuantV2(const GroupedMatmulSwigluQuantV2Params& p, const Product&) {
  return MakeSwiglu(SwigluOf(p));
}

void CheckGroupedMatmulFinalizeRouting(const GroupedMatmulFinalizeRoutingParams& p,
                                       Checker& checker) {
  CheckProducts(p.x1, p.x2, p.groupList, checker);
  for (const Tensor* tensor :
       {&p.offsetOptional, &p.antiquantScaleOptional, &p.antiquantOffsetOptional}) {
    CheckAbsent(*tensor, checker);
  }
  CheckValue(p.dtype == 0, "dtype", p.dtype, checker, "0, FLOAT");
  checker.That(!p.transposeX1 && !p.transposeX2, [&] {
    return Concat(p.transposeX1 ? "transposeX1" : "transposeX2", " value is true, expected false");
  });
  CheckValue(p.groupListType == 0 || p.groupListType == 1, "groupListType", p.groupListType,
             checker, "0 or 1");
  if (checker.ok()) CheckFinishShapes(p, checker);
}

namespace {

/// Sums of rows for each row of a result, and the rows that are shared.
struct RowSums {
  TokenRows out, shared;
  int64_t results, columns, offset, shared_rows;
  float weight;

  /// `place` has the result of each row; rows that are not `there` take no part.
  void operator()(const Buffers& buffers, const float* lines, const std::vector<char>& there,
                  const std::vector<int64_t>& place) const {
    // The rows of a result in their order.
    std::vector<std::vector<int64_t>> terms(static_cast<size_t>(results));
    for (size_t row = 0; row < there.size(); ++row) {
      if (there[row] != 0) {
        terms[static_cast<size_t>(place[row])].push_back(static_cast<int64_t>(row));
      }
    }
    using Room = std::vector<double>;
    ParallelRowsIn<Room>(results, columns, [&](int64_t row, Room* sum) {
      sum->assign(static_cast<size_t>(columns), 0.0);
      if (row >= offset && row - offset < shared_rows) {
        shared.Load(buffers, row - offset, sum->data());
        for (double& each : *sum) each *= weight;
      }
      for (const int64_t term : terms[static_cast<size_t>(row)]) {
        const float* const line = lines + term * columns;
        for (int64_t i = 0; i < columns; ++i) (*sum)[static_cast<size_t>(i)] += line[i];
      }
      out.Store(buffers, row, sum->data());
    });
  }
};

}  // namespace

Plan PlanGroupedMatmulFinalizeRouting(const GroupedMatmulFinalizeRoutingParams& p, const Product&) {
  const Products products(p.x1, p.x2, p.groupList, p.groupListType);
  const TensorValues<float> scales(p.scale), biases(p.biasOptional),
      tokens(p.pertokenScaleOptional), logits(p.logitOptional);
  const IntegerValues index(p.rowIndexOptional);
  const int64_t columns = p.x2.dim(2), rows = p.x1.dim(0), results = p.out.dim(0);
  const RowSums sum_rows = {TokenRows(p.out),
                            TokenRows(p.sharedInputOptional),
                            results,
                            columns,
                            p.sharedInputOffset,
                            p.sharedInputOptional.present() ? p.sharedInputOptional.dim(0) : 0,
                            p.sharedInputWeight};
  ScratchParts parts;
  parts.Take(products.products.scratch_bytes());
  const uint64_t made = parts.Take(__int128{rows} * columns * int{sizeof(float)});
  return {parts.bytes(), [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> place = index.Read(buffers);
            Status status = CheckRange("rowIndex", place, 0, results);
            if (!status.ok()) return status;
            const std::vector<float> scale = scales.Read(buffers), bias = biases.Read(buffers),
                                     token = tokens.Read(buffers), logit = logits.Read(buffers);
            auto* const scratch = static_cast<std::byte*>(buffers.workspace);
            auto* const lines = reinterpret_cast<float*>(scratch + made);
            std::vector<char> there(static_cast<size_t>(rows));
            status =
                products.Run(buffers, scratch, [&](size_t group, int64_t row, const int32_t* sums) {
                  const auto at = static_cast<size_t>(row);
                  const int64_t first = static_cast<int64_t>(group) * columns;
                  float* const line = lines + row * columns;
                  for (int64_t i = 0; i < columns; ++i) {
                    float value =
                        static_cast<float>(sums[i]) * scale[static_cast<size_t>(first + i)];
                    if (!bias.empty()) value += bias[static_cast<size_t>(first + i)];
                    if (!token.empty()) value *= token[at];
                    if (!logit.empty()) value *= logit[at];
                    line[i] = value;
                  }
                  there[at] = 1;
                });
            if (!status.ok()) return status;
            sum_rows(buffers, lines, there, place);
            return {};
          }};
}

void CheckGroupedMatmulAdd(const GroupedMatmulAddParams& p, Checker& checker) {
  checker.Rank(p.x, 2).Rank(p.weight, 2).SameDtype(p.weight, p.x);
  checker.RankBetween(p.yRef, 2, 3);
  CheckValue(p.groupType == 2, "groupType", p.groupType, checker, "2");
  CheckValue(p.groupListType == 0 || p.groupListType == 1, "groupListType", p.groupListType,
             checker, "0 or 1");
  checker.That(!p.transposeWeight,
               [&] { return Concat("transposeWeight value is true, expected false"); });
  checker.That(p.groupList.dtype() == ACL_INT64, [&] { return DtypeIs(p.groupList, "INT64"); });
  checker.Rank(p.groupList, 1);
  if (!checker.ok()) return;
  const int64_t terms = p.x.dim(p.transposeX ? 0 : 1), rows = p.x.dim(p.transposeX ? 1 : 0);
  checker.That(p.weight.dim(0) == terms, [&] {
    return Concat("weight shape is ", ShapeText(p.weight), ", expected ", terms,
                  " rows, the terms of x, ", ShapeText(p.x));
  });
  const int64_t groups = p.groupList.dim(0), columns = p.weight.dim(1);
  CheckShape(p.yRef,
             p.yRef.rank() == 3 ? Shape{groups, rows, columns} : Shape{groups * rows, columns},
             checker);
}

Plan PlanGroupedMatmulAdd(const GroupedMatmulAddParams& p, const Product&) {
  const Pieces x(p.x, Slicing::kMatrix), weight(p.weight, Slicing::kMatrix),
      y(p.yRef, Slicing::kMatrix);
  const bool turned = p.transposeX, sliced = p.yRef.rank() == 3;
  const int64_t terms = p.x.dim(turned ? 0 : 1), rows = p.x.dim(turned ? 1 : 0);
  const int64_t columns = p.weight.dim(1), groups = p.groupList.dim(0);
  const auto kind = static_cast<GroupSizes::Kind>(p.groupListType);
  const IntegerValues list(p.groupList);
  const auto left = [=](GroupMatrix matrix) {
    if (turned) std::swap(matrix.row_step, matrix.column_step);
    return matrix;
  };
  Group largest = {.rows = rows, .columns = columns, .terms = terms};
  largest.a = left(x.Of(0));
  largest.b = weight.Of(0);
  largest.c = largest.added = y.Of(0);
  largest.adds = true;
  const ProductGroups grouping({largest}, groups);
  return {grouping.scratch_bytes(), [=](const Buffers& buffers) -> Status {
            GroupSizes sizes;
            Status status =
                GroupSizes::Of("groupList", list.Read(buffers), kind, groups, terms, &sizes);
            if (!status.ok()) return status;
            std::vector<Group> each;
            for (const GroupSizes::Part& part : sizes.parts) {
              Group group = largest;
              group.terms = part.size;
              group.a = left(x.Of(buffers, 0)).From(0, part.begin);
              group.b = weight.Of(buffers, 0).From(part.begin, 0);
              const GroupMatrix to = y.Of(buffers, static_cast<size_t>(sliced ? part.group : 0));
              group.c = group.added = sliced ? to : to.From(part.group * rows, 0);
              if (part.size > 0) each.push_back(group);
            }
            grouping.Multiply(each, static_cast<std::byte*>(buffers.workspace));
            return {};
          }};
}

}  // namespace openaclnn::supporting
