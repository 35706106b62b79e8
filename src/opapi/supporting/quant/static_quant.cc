// SPDX-License-Identifier: Apache-2.0
// Numbers made whole by scales that are given, and whole numbers made floats again.
#include <string_view>
#include <utility>

#include "generated/quant.h"
#include "kernels/rows/rows.h"
#include "supporting/axis_numbers.h"
#include "supporting/group_ends.h"
#include "supporting/in_turn.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

constexpr DtypeSet kThreeFloats = Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_BF16);

/// y = round(f(x)). change(row, values) computes f of a row.
template <class Prepare>
Plan MakeWhole(const Tensor& x, const WholeRows& to, Snap how, const Prepare& prepare) {
  const LastRows from(x);
  return {0, [=](const Buffers& buffers) -> Status {
            const auto change = prepare(buffers);
            ParallelRowsIn<std::vector<double>>(from.count(), from.width(),
                                                [&](int64_t row, std::vector<double>* values) {
                                                  values->resize(static_cast<size_t>(from.width()));
                                                  from.Load(buffers, row, values->data());
                                                  change(row, values->data());
                                                  to.Store(buffers, row, how, values->data());
                                                });
            return {};
          }};
}

/// The scale has x's type, unless x is FLOAT; the offset has the scale's.
void CheckScales(const Tensor& x, const Tensor& scale, const Tensor& offset, uint32_t axis,
                 Checker& checker) {
  checker.That(Contains(kThreeFloats, scale.dtype()),
               [&] { return DtypeIs(scale, DtypesText(kThreeFloats)); });
  if (x.dtype() != ACL_FLOAT) checker.SameDtype(scale, x);
  if (offset.present()) checker.SameDtype(offset, scale);
  CheckAlong(scale, ShapeOf(x), axis, checker);
  CheckAlong(offset, ShapeOf(x), axis, checker);
}

/// The mode "round" rounds ties to even in these operators.
Snap SnapByPage(std::string_view mode) {
  return mode == "round" ? Snap::kEven : SnapOf(mode).value_or(Snap::kEven);
}

uint32_t AxisOf(const AscendQuantParams& p) { return p.x.rank() - 1; }
uint32_t AxisOf(const AscendQuantV3Params& p) {
  return WrapDim(p.axis, p.x.rank()).value_or(p.x.rank() - 1);
}

template <class P>
void CheckAscend(const P& p, Checker& checker) {
  CheckType("dstType", p.dstType, p.y, checker);
  CheckScales(p.x, p.scale, p.offset, AxisOf(p), checker);
  CheckWhole(p.y, ShapeOf(p.x), checker);
}

template <class P>
Plan PlanAscend(const P& p) {
  if (p.x.empty()) return Nothing();
  const Shape shape = ShapeOf(p.x);
  const AxisNumbers scale(p.scale, shape, AxisOf(p), 1), offset(p.offset, shape, AxisOf(p), 0);
  const bool twice = p.sqrtMode;
  return MakeWhole(p.x, WholeRows(p.y), SnapByPage(p.roundMode), [=](const Buffers& buffers) {
    return [=, scales = scale.All(buffers), offsets = offset.All(buffers)](int64_t row,
                                                                           double* values) {
      scale.Multiply(scales, row, values);
      if (twice) scale.Multiply(scales, row, values);
      offset.Add(offsets, row, values);
    };
  });
}

}  // namespace

void CheckAscendQuant(const AscendQuantParams& p, Checker& checker) {
  checker.RankBetween(p.x, 1, kMaxRank);
  if (checker.ok()) CheckAscend(p, checker);
}

Plan PlanAscendQuant(const AscendQuantParams& p, const Product&) { return PlanAscend(p); }

void CheckAscendQuantV3(const AscendQuantV3Params& p, Checker& checker) {
  checker.RankBetween(p.x, 1, kMaxRank);
  if (!checker.ok()) return;
  const auto axis = WrapDim(p.axis, p.x.rank());
  checker.That(axis && *axis + 2 >= p.x.rank(), [&] {
    return Concat("axis value is ", p.axis, ", expected one of the last two dimensions of x, ",
                  ShapeText(p.x));
  });
  if (checker.ok()) CheckAscend(p, checker);
}

Plan PlanAscendQuantV3(const AscendQuantV3Params& p, const Product&) { return PlanAscend(p); }

void CheckAscendAntiQuant(const AscendAntiQuantParams& p, Checker& checker) {
  constexpr DtypeSet kScales = Dtypes(ACL_FLOAT, ACL_BF16), kHalves = Dtypes(ACL_FLOAT16, ACL_BF16);
  checker.RankBetween(p.x, 1, kMaxRank);
  CheckType("dstType", p.dstType, p.y, checker);
  checker.That(Contains(kHalves, p.y.dtype()), [&] { return DtypeIs(p.y, DtypesText(kHalves)); });
  checker.That(Contains(kScales, p.scale.dtype()),
               [&] { return DtypeIs(p.scale, DtypesText(kScales)); });
  if (p.offset.present()) checker.SameDtype(p.offset, p.scale);
  checker.Rank(p.scale, 1);
  if (!checker.ok()) return;
  const Shape shape = WholeShape(p.x);
  CheckWhole(p.x, shape, checker);
  CheckAlong(p.scale, shape, p.x.rank() - 1, checker);
  if (p.offset.present()) CheckShape(p.offset, ShapeOf(p.scale), checker);
  CheckShape(p.y, shape, checker);
}

Plan PlanAscendAntiQuant(const AscendAntiQuantParams& p, const Product&) {
  if (p.y.empty()) return Nothing();
  const Shape shape = ShapeOf(p.y);
  const WholeRows from(p.x);
  const LastRows to(p.y);
  const uint32_t axis = p.y.rank() - 1;
  const AxisNumbers scale(p.scale, shape, axis, 1), offset(p.offset, shape, axis, 0);
  const bool twice = p.sqrtMode;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> scales = scale.All(buffers), offsets = offset.All(buffers);
            ParallelRowsIn<std::vector<double>>(to.count(), to.width(),
                                                [&](int64_t row, std::vector<double>* values) {
                                                  values->resize(static_cast<size_t>(to.width()));
                                                  from.Load(buffers, row, values->data());
                                                  offset.Add(offsets, row, values->data());
                                                  scale.Multiply(scales, row, values->data());
                                                  if (twice)
                                                    scale.Multiply(scales, row, values->data());
                                                  to.Store(buffers, row, values->data());
                                                });
            return {};
          }};
}

void CheckQuantize(const QuantizeParams& p, Checker& checker) {
  checker.RankBetween(p.x, 1, kMaxRank);
  CheckType("dtype", p.dtype, p.out, checker);
  checker.Rank(p.scales, 1);
  if (!checker.ok()) return;
  const auto axis = WrapDim(p.axis, p.x.rank());
  checker.That(axis.has_value() || p.scales.count() == 1, [&] {
    return Concat("axis value is ", p.axis, ", expected a dimension of x, ", ShapeText(p.x));
  });
  if (!checker.ok()) return;
  CheckAlong(p.scales, ShapeOf(p.x), axis.value_or(0), checker);
  if (p.zeroPoints.present()) CheckShape(p.zeroPoints, ShapeOf(p.scales), checker);
  CheckShape(p.out, ShapeOf(p.x), checker);
}

Plan PlanQuantize(const QuantizeParams& p, const Product&) {
  if (p.x.empty()) return Nothing();
  const Shape shape = ShapeOf(p.x);
  const uint32_t axis = WrapDim(p.axis, p.x.rank()).value_or(0);
  const AxisNumbers scale(p.scales, shape, axis, 1), offset(p.zeroPoints, shape, axis, 0);
  return MakeWhole(p.x, WholeRows(p.out, Holding::kOne), Snap::kEven, [=](const Buffers& buffers) {
    return [=, scales = scale.All(buffers), offsets = offset.All(buffers)](int64_t row,
                                                                           double* values) {
      scale.Divide(scales, row, values);
      offset.Add(offsets, row, values);
    };
  });
}

void CheckGroupQuant(const GroupQuantParams& p, Checker& checker) {
  checker.Rank(p.x, 2).Rank(p.scale, 2).Rank(p.groupIndex, 1);
  CheckType("dstType", p.dstType, p.y, checker);
  if (!checker.ok()) return;
  CheckIndexType(p.groupIndex, checker);
  CheckShape(p.scale, {p.groupIndex.dim(0), p.x.dim(1)}, checker);
  checker.NotEmpty(p.groupIndex);
  if (p.offsetOptional.present()) {
    checker.SameDtype(p.offsetOptional, p.scale);
    checker.That(p.offsetOptional.count() == 1, [&] {
      return Concat("offsetOptional shape is ", ShapeText(p.offsetOptional),
                    ", expected one element");
    });
  }
  CheckWhole(p.y, ShapeOf(p.x), checker);
}

Plan PlanGroupQuant(const GroupQuantParams& p, const Product&) {
  if (p.x.empty()) return Nothing();
  const LastRows from(p.x), scale(p.scale);
  const WholeRows to(p.y);
  const GroupEnds groups(p.groupIndex, from.count(), false);
  const AxisNumbers offset(p.offsetOptional, ShapeOf(p.x), 1, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> ends;
            Status status = groups.Read(buffers, true, &ends);
            if (!status.ok()) return status;
            const std::vector<double> offsets = offset.All(buffers);
            using Room = std::pair<std::vector<double>, std::vector<double>>;
            ParallelRowsIn<Room>(from.count(), from.width(), [&](int64_t row, Room* room) {
              auto& [values, scales] = *room;
              values.resize(static_cast<size_t>(from.width()));
              scales.resize(values.size());
              from.Load(buffers, row, values.data());
              scale.Load(buffers, static_cast<int64_t>(GroupEnds::Of(ends, row)), scales.data());
              DoubleRows().multiply(values.data(), scales.data(), from.width());
              offset.Add(offsets, row, values.data());
              to.Store(buffers, row, Snap::kEven, values.data());
            });
            return {};
          }};
}

void CheckDequantBias(const DequantBiasParams& p, Checker& checker) {
  checker.Rank(p.x, 2);
  CheckType("outputDtype", p.outputDtype, p.out, checker);
  if (!checker.ok()) return;
  CheckShape(p.weightScale, {p.x.dim(1)}, checker);
  if (p.activateScaleOptional.present()) {
    CheckShape(p.activateScaleOptional, {p.x.dim(0)}, checker);
  }
  if (p.biasOptional.present()) CheckShape(p.biasOptional, {p.x.dim(1)}, checker);
  CheckShape(p.out, ShapeOf(p.x), checker);
}

/// A bias of INT32 is added before the scales, another after them.
Plan PlanDequantBias(const DequantBiasParams& p, const Product&) {
  if (p.x.empty()) return Nothing();
  const Shape shape = ShapeOf(p.x);
  const LastRows from(p.x), to(p.out);
  const AxisNumbers of_columns(p.weightScale, shape, 1, 1),
      of_rows(p.activateScaleOptional, shape, 0, 1), bias(p.biasOptional, shape, 1, 0);
  const bool before = p.biasOptional.present() && p.biasOptional.dtype() == ACL_INT32;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> columns = of_columns.All(buffers),
                                      rows = of_rows.All(buffers), added = bias.All(buffers);
            ParallelRowsIn<std::vector<double>>(from.count(), from.width(),
                                                [&](int64_t row, std::vector<double>* values) {
                                                  values->resize(static_cast<size_t>(from.width()));
                                                  from.Load(buffers, row, values->data());
                                                  if (before) bias.Add(added, row, values->data());
                                                  of_columns.Multiply(columns, row, values->data());
                                                  of_rows.Multiply(rows, row, values->data());
                                                  if (!before) bias.Add(added, row, values->data());
                                                  to.Store(buffers, row, values->data());
                                                });
            return {};
          }};
}

}  // namespace openaclnn::supporting
