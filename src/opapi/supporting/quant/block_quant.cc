// SPDX-License-Identifier: Apache-2.0
// DynamicBlockQuant: scales of rectangles of numbers.
#include <algorithm>
#include <vector>

#include "generated/quant.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/axis_numbers.h"
#include "supporting/dynamic_scale.h"
#include "supporting/in_turn.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

struct Blocked {
  const Tensor &x, &y, &scale;
  double least;
  int64_t rows, columns;  // of a block
};

void CheckBlocked(const Blocked& of, Checker& checker) {
  constexpr DtypeSet kHalves = Dtypes(ACL_FLOAT16, ACL_BF16);
  checker.RankBetween(of.x, 2, 3);
  checker.That(Contains(kHalves, of.x.dtype()), [&] { return DtypeIs(of.x, DtypesText(kHalves)); });
  checker.That(of.y.dtype() == ACL_INT8, [&] { return DtypeIs(of.y, "INT8"); });
  checker.That(of.scale.dtype() == ACL_FLOAT, [&] { return DtypeIs(of.scale, "FLOAT"); });
  checker.That(of.rows > 0,
               [&] { return Concat("rowBlockSize value is ", of.rows, ", expected one above 0"); });
  checker.That(of.columns > 0, [&] {
    return Concat("colBlockSize value is ", of.columns, ", expected one above 0");
  });
  checker.That(of.least >= 0,
               [&] { return Concat("minScale value is ", of.least, ", expected 0 or more"); });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(of.x);
  CheckWhole(of.y, shape, checker);
  shape.end()[-2] = DivideUp(shape.end()[-2], of.rows);
  shape.back() = DivideUp(shape.back(), of.columns);
  CheckShape(of.scale, shape, checker);
}

Plan PlanBlocked(const Blocked& of) {
  if (of.x.empty()) return Nothing();
  const LastRows x(of.x);
  const WholeRows y(of.y);
  const Elements scale(of.scale, 0);
  const int64_t height = of.x.dim(of.x.rank() - 2), block = std::min(of.rows, height);
  const int64_t width = x.width(), columns = std::min(of.columns, width);
  const int64_t across = DivideUp(width, columns), down = DivideUp(height, block);
  const double least = of.least;
  return {0, [=](const Buffers& buffers) -> Status {
            const int64_t strips = x.count() / height * down;
            ParallelRowsIn<std::vector<double>>(
                strips, block * width, [&](int64_t strip, std::vector<double>* room) {
                  const int64_t first = strip / down * height + strip % down * block;
                  const int64_t rows = std::min(block, height - strip % down * block);
                  room->resize(static_cast<size_t>(rows * width));
                  double* const values = room->data();
                  for (int64_t i = 0; i < rows; ++i) {
                    x.Load(buffers, first + i, values + i * width);
                  }
                  for (int64_t k = 0; k < across; ++k) {
                    const int64_t begin = k * columns, n = std::min(columns, width - begin);
                    Extremes own;
                    for (int64_t i = 0; i < rows; ++i) {
                      own.Join(Extremes::Of(values + i * width + begin, n), i > 0);
                    }
                    DynamicScale by = DynamicScale::Symmetric(own, y.high());
                    by.scale = std::max(by.scale,
                                        static_cast<double>(static_cast<float>(least)));  // or NaN
                    scale.Set(buffers, strip * across + k, by.scale);
                    for (int64_t i = 0; i < rows; ++i) by.Apply(values + i * width + begin, n);
                  }
                  for (int64_t i = 0; i < rows; ++i) {
                    y.Store(buffers, first + i, Snap::kEven, values + i * width);
                  }
                });
            return {};
          }};
}

Blocked BlockedOf(const DynamicBlockQuantParams& p) {
  return {p.x, p.yOut, p.scaleOut, p.minScale, p.rowBlockSize, p.colBlockSize};
}
Blocked BlockedOf(const DynamicBlockQuantV2Params& p) {
  return {p.x, p.yOut, p.scaleOut, p.minScale, p.rowBlockSize, p.colBlockSize};
}

}  // namespace

void CheckDynamicBlockQuant(const DynamicBlockQuantParams& p, Checker& checker) {
  CheckType("dstType", p.dstType, p.yOut, checker);
  CheckBlocked(BlockedOf(p), checker);
}
Plan PlanDynamicBlockQuant(const DynamicBlockQuantParams& p, const Product&) {
  return PlanBlocked(BlockedOf(p));
}

void CheckDynamicBlockQuantV2(const DynamicBlockQuantV2Params& p, Checker& checker) {
  CheckType("dstType", p.dstType, p.yOut, checker);
  checker.That(p.dstTypeMax == 0, [&] {
    return Concat("dstTypeMax value is ", p.dstTypeMax,
                  ", expected 0: other ends are those of HIFLOAT8");
  });
  CheckBlocked(BlockedOf(p), checker);
}
Plan PlanDynamicBlockQuantV2(const DynamicBlockQuantV2Params& p, const Product&) {
  return PlanBlocked(BlockedOf(p));
}

}  // namespace openaclnn::supporting
