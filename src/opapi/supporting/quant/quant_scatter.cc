// SPDX-License-Identifier: Apache-2.0
// InplaceQuantScatter: rows that are made whole on their way to places along a dimension.
#include <vector>

#include "generated/quant.h"
#include "kernels/rows/rows.h"
#include "supporting/axis_numbers.h"
#include "supporting/in_turn.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

/// A slice of updates belongs to one slice of data along the first dimension.
struct Scattered {
  const Tensor &data, &indices, &updates, &scales, &zeros;
  int64_t axis;
  Snap how;
};

uint32_t AxisOf(const Scattered& of) { return WrapDim(of.axis, of.updates.rank()).value_or(0); }

void CheckScattered(const Scattered& of, int64_t quant_axis, Checker& checker) {
  constexpr DtypeSet kHalves = Dtypes(ACL_FLOAT16, ACL_BF16);
  const uint32_t rank = of.data.rank();
  checker.That(of.data.dtype() == ACL_INT8, [&] { return DtypeIs(of.data, "INT8"); });
  checker.That(of.indices.dtype() == ACL_INT32, [&] { return DtypeIs(of.indices, "INT32"); });
  checker.That(Contains(kHalves, of.updates.dtype()),
               [&] { return DtypeIs(of.updates, DtypesText(kHalves)); });
  checker.RankBetween(of.data, 3, kMaxRank).Rank(of.updates, rank);
  checker.RankBetween(of.indices, 1, 2);
  if (!checker.ok()) return;
  const uint32_t axis = AxisOf(of);
  checker.That(axis > 0 && axis + 1 < rank, [&] {
    return Concat("axis value is ", of.axis, ", expected a dimension of ", of.updates.name(), ", ",
                  ShapeText(of.updates), ", between the first and the last");
  });
  checker.That(WrapDim(quant_axis, rank) == rank - 1, [&] {
    return Concat("quantAxis value is ", quant_axis, ", expected -1, the last dimension");
  });
  if (!checker.ok()) return;
  CheckShape(of.indices,
             of.indices.rank() == 2 ? Shape{of.updates.dim(0), 2} : Shape{of.updates.dim(0)},
             checker);
  Shape shape = ShapeOf(of.data);
  shape[axis] = of.updates.dim(axis);
  shape[0] = of.updates.dim(0);
  CheckShape(of.updates, shape, checker);
  for (uint32_t i : {uint32_t{0}, axis}) {
    checker.That(of.updates.dim(i) <= of.data.dim(i), [&] {
      return Concat(of.updates.name(), " shape is ", ShapeText(of.updates),
                    ", expected at most the lengths of ", ShapeText(of.data));
    });
  }
  for (const Tensor* each : {&of.scales, &of.zeros}) {
    checker.That(!each->present() || each->count() == of.data.last_dim(), [&] {
      return Concat(each->name(), " shape is ", ShapeText(*each), ", expected ", of.data.last_dim(),
                    " elements");
    });
  }
}

Plan PlanScattered(const Scattered& of) {
  if (of.updates.empty()) return Nothing();
  const uint32_t axis = AxisOf(of);
  const LastRows from(of.updates);
  const WholeRows to(of.data);
  const Elements indices(of.indices, 0);
  const Shape width = {of.data.last_dim()};
  const AxisNumbers scales(of.scales, width, 0, 1), zeros(of.zeros, width, 0, 0);
  const bool pairs = of.indices.rank() == 2;
  const Snap how = of.how;
  const int64_t batches = of.updates.dim(0), own_batches = of.data.dim(0);
  const int64_t length = of.updates.dim(axis), own_length = of.data.dim(axis);
  int64_t before = 1, after = 1;  // rows of a batch: before the axis, and of one place along it
  for (uint32_t i = 1; i + 1 < of.data.rank(); ++i) {
    if (i != axis) (i < axis ? before : after) *= of.data.dim(i);
  }
  const char* const name = of.indices.name();
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> all = indices.AllWhole(buffers);
            const auto at = [&](int64_t i) { return all[static_cast<size_t>(i)]; };
            const auto place = [&](int64_t b) { return at(pairs ? 2 * b + 1 : b); };
            const auto batch = [&](int64_t b) { return pairs ? at(2 * b) : b; };
            for (int64_t b = 0; b < batches; ++b) {
              const int64_t most = own_length - length;
              if (place(b) < 0 || place(b) > most || batch(b) < 0 || batch(b) >= own_batches) {
                return Status(507035, Concat(name, " value ", b, " is ", batch(b), ", ", place(b),
                                             ", expected 0 <= batch < ", own_batches,
                                             " and 0 <= place <= ", most));
              }
            }
            const std::vector<double> divisors = scales.All(buffers), points = zeros.All(buffers);
            const int64_t rows = before * length * after;
            for (int64_t b = 0; b < batches;
                 ++b) {  // of batches with the same place the last stays
              ParallelRowsIn<std::vector<double>>(
                  rows, from.width(), [&](int64_t row, std::vector<double>* values) {
                    values->resize(static_cast<size_t>(from.width()));
                    from.Load(buffers, b * rows + row, values->data());
                    scales.Divide(divisors, 0, values->data());
                    zeros.Add(points, 0, values->data());
                    const int64_t outer = row / (length * after), inner = row % (length * after);
                    const int64_t own = (batch(b) * before + outer) * own_length + place(b);
                    to.Store(buffers, own * after + inner, how, values->data());
                  });
            }
            return {};
          }};
}

Scattered ScatteredOf(const InplaceQuantScatterParams& p) {
  return {p.selfRef, p.indices, p.updates, p.quantScales, p.quantZeroPoints, p.axis, Snap::kEven};
}
Scattered ScatteredOf(const InplaceQuantScatterV2Params& p) {
  return {p.selfRef,
          p.indices,
          p.updates,
          p.quantScales,
          p.quantZeroPoints,
          p.axis,
          SnapOf(p.roundMode).value_or(Snap::kEven)};
}

}  // namespace

void CheckInplaceQuantScatter(const InplaceQuantScatterParams& p, Checker& checker) {
  CheckScattered(ScatteredOf(p), p.quantAxis, checker);
}
Plan PlanInplaceQuantScatter(const InplaceQuantScatterParams& p, const Product&) {
  return PlanScattered(ScatteredOf(p));
}

void CheckInplaceQuantScatterV2(const InplaceQuantScatterV2Params& p, Checker& checker) {
  CheckScattered(ScatteredOf(p), p.quantAxis, checker);
}
Plan PlanInplaceQuantScatterV2(const InplaceQuantScatterV2Params& p, const Product&) {
  return PlanScattered(ScatteredOf(p));
}

}  // namespace openaclnn::supporting
