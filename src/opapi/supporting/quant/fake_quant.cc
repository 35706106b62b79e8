// SPDX-License-Identifier: Apache-2.0
// Floats that are made whole and floats again, and a mask of those that were in range.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "generated/quant.h"
#include "kernels/rows/rows.h"
#include "supporting/axis_numbers.h"
#include "supporting/in_turn.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

struct Faked {
  const Tensor &self, &scale, &zero, &out, &mask;
  int64_t low, high;
};

void CheckFaked(const Faked& of, Checker& checker) {
  constexpr DtypeSet kFloats = Dtypes(ACL_FLOAT, ACL_FLOAT16);
  for (const Tensor* each : {&of.self, &of.scale}) {
    checker.That(Contains(kFloats, each->dtype()),
                 [&] { return DtypeIs(*each, DtypesText(kFloats)); });
  }
  checker.That(of.zero.dtype() == ACL_INT32, [&] { return DtypeIs(of.zero, "INT32"); });
  checker.That(of.mask.dtype() == ACL_BOOL, [&] { return DtypeIs(of.mask, "BOOL"); });
  checker.SameDtype(of.out, of.self);
  checker.That(of.low <= of.high, [&] {
    return Concat("quantMin value is ", of.low, ", expected at most quantMax, ", of.high);
  });
  CheckShape(of.out, ShapeOf(of.self), checker);
  CheckShape(of.mask, ShapeOf(of.self), checker);
}

/// One number for all, or one for each place along an axis. A scalar is a row of one.
Plan PlanFaked(const Faked& of, uint32_t axis, bool copies) {
  if (of.self.empty()) return Nothing();
  const Shape shape = of.self.rank() > 0 ? ShapeOf(of.self) : Shape{1};
  const AxisNumbers scale(of.scale, shape, axis, 1), zero(of.zero, shape, axis, 0);
  const LastRows self(of.self), out(of.out), mask(of.mask);
  const auto low = static_cast<double>(of.low), high = static_cast<double>(of.high);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> scales = scale.All(buffers), zeros = zero.All(buffers);
            using Room = std::array<std::vector<double>, 2>;
            ParallelRowsIn<Room>(self.count(), self.width(), [&](int64_t row, Room* room) {
              auto& [values, inside] = *room;
              values.resize(static_cast<size_t>(self.width()));
              inside.assign(values.size(), 1);
              self.Load(buffers, row, values.data());
              if (!copies) {
                scale.Divide(scales, row, values.data());
                for (double& value : values) value = std::nearbyint(value);
                zero.Add(zeros, row, values.data());
                for (size_t i = 0; i < values.size(); ++i) {
                  inside[i] = values[i] >= low && values[i] <= high ? 1 : 0;
                  values[i] = std::min(std::max(values[i], low), high);
                }
                std::vector<double> back = zeros;
                for (double& each : back) each = -each;
                zero.Add(back, row, values.data());
                scale.Multiply(scales, row, values.data());
              }
              out.Store(buffers, row, values.data());
              mask.Store(buffers, row, inside.data());
            });
            return {};
          }};
}

Faked FakedOf(const FakeQuantPerTensorAffineCachemaskParams& p) {
  return {p.self, p.scale, p.zeroPoint, p.out, p.mask, p.quantMin, p.quantMax};
}
Faked FakedOf(const FakeQuantPerChannelAffineCachemaskParams& p) {
  return {p.self, p.scale, p.zeroPoint, p.out, p.mask, p.quantMin, p.quantMax};
}

}  // namespace

void CheckFakeQuantPerTensorAffineCachemask(const FakeQuantPerTensorAffineCachemaskParams& p,
                                            Checker& checker) {
  checker.RankBetween(p.self, 1, kMaxRank);
  for (const Tensor* each : {&p.scale, &p.zeroPoint}) {
    checker.That(each->count() == 1, [&] {
      return Concat(each->name(), " shape is ", ShapeText(*each), ", expected one element");
    });
  }
  if (checker.ok()) CheckFaked(FakedOf(p), checker);
}

Plan PlanFakeQuantPerTensorAffineCachemask(const FakeQuantPerTensorAffineCachemaskParams& p,
                                           const Product&) {
  return PlanFaked(FakedOf(p), 0, p.fakeQuantEnabled < 1);
}

void CheckFakeQuantPerChannelAffineCachemask(const FakeQuantPerChannelAffineCachemaskParams& p,
                                             Checker& checker) {
  checker.RankBetween(p.self, 1, kMaxRank);
  if (!checker.ok()) return;
  const auto axis = WrapDim(p.axis, p.self.rank());
  checker.That(axis.has_value(), [&] {
    return Concat("axis value is ", p.axis, ", expected a dimension of self, ", ShapeText(p.self));
  });
  if (!checker.ok()) return;
  CheckShape(p.scale, {p.self.dim(*axis)}, checker);
  CheckShape(p.zeroPoint, {p.self.dim(*axis)}, checker);
  CheckFaked(FakedOf(p), checker);
}

Plan PlanFakeQuantPerChannelAffineCachemask(const FakeQuantPerChannelAffineCachemaskParams& p,
                                            const Product&) {
  return PlanFaked(FakedOf(p), *WrapDim(p.axis, p.self.rank()), false);
}

}  // namespace openaclnn::supporting
