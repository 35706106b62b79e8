// SPDX-License-Identifier: Apache-2.0
// Numbers made whole by scales of their own: of a row, of a column, or of the whole tensor.
#include <string_view>

#include "generated/quant.h"
#include "kernels/rows/rows.h"
#include "supporting/axis_numbers.h"
#include "supporting/dynamic_scale.h"
#include "supporting/group_ends.h"
#include "supporting/in_turn.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

enum class Over { kRow, kColumn, kAll };

/// The parameters of all versions.
struct Dynamic {
  const Tensor &x, &smooth, &index, &y, &scale, &offset;
  bool symmetric;
  Over over;
};

/// The scale's shape: x's without the dimension that a scale spans.
Shape ScaleShape(const Dynamic& of) {
  Shape shape = ShapeOf(of.x);
  if (of.over == Over::kAll) return {1};
  shape.erase(of.over == Over::kRow ? shape.end() - 1 : shape.end() - 2);
  return shape;
}

void CheckSmooth(const Dynamic& of, Checker& checker) {
  const int64_t width = of.x.last_dim();
  if (of.index.present()) {
    checker.That(of.smooth.present(), [&] {
      return Concat(of.index.name(), " value is a tensor, expected null without ",
                    of.smooth.name());
    });
    checker.Rank(of.index, 1).NotEmpty(of.index);
    checker.That(of.index.dtype() == ACL_INT32, [&] { return DtypeIs(of.index, "INT32"); });
    checker.That(of.over == Over::kRow, [&] {
      return Concat(of.index.name(), " value is a tensor, expected null but for scales of rows");
    });
  }
  if (!checker.ok() || !of.smooth.present()) return;
  checker.SameDtype(of.smooth, of.x);
  CheckShape(of.smooth, of.index.present() ? Shape{of.index.dim(0), width} : Shape{width}, checker);
}

void CheckDynamic(const Dynamic& of, Checker& checker) {
  constexpr DtypeSet kHalves = Dtypes(ACL_FLOAT16, ACL_BF16);
  constexpr DtypeSet kWhole = Dtypes(ACL_INT8, ACL_INT32, ACL_INT4);
  checker.RankBetween(of.x, 2, kMaxRank);
  checker.That(Contains(kHalves, of.x.dtype()), [&] { return DtypeIs(of.x, DtypesText(kHalves)); });
  checker.That(Contains(kWhole, of.y.dtype()), [&] { return DtypeIs(of.y, DtypesText(kWhole)); });
  for (const Tensor* each : {&of.scale, &of.offset}) {
    checker.That(!each->present() || each->dtype() == ACL_FLOAT,
                 [&] { return DtypeIs(*each, "FLOAT"); });
  }
  if (!checker.ok()) return;
  CheckSmooth(of, checker);
  CheckWhole(of.y, ShapeOf(of.x), checker);
  CheckShape(of.scale, ScaleShape(of), checker);
  checker.That(of.symmetric || of.offset.present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat(of.offset.name(),
                  " value is null, expected a tensor where isSymmetrical is false");
  });
  if (!of.symmetric) CheckShape(of.offset, ScaleShape(of), checker);
}

/// Makes x times the smoothing numbers whole, by each of the ways.
class DynamicQuantiser {
 public:
  explicit DynamicQuantiser(const Dynamic& of)
      : x_(of.x),
        y_(of.y),
        smooth_(of.smooth, 1),
        groups_(of.index, x_.count(), false),
        scale_(of.scale, 0),
        offset_(of.symmetric ? NoTensor() : of.offset, 0),
        symmetric_(of.symmetric),
        columns_(of.x.last_dim()),
        rows_(of.x.dim(of.x.rank() - 2)) {}

  Status ByRows(const Buffers& buffers) const {
    std::vector<int64_t> ends;
    Status status = groups_.Read(buffers, true, &ends);
    if (!status.ok()) return status;
    const std::vector<double> smooth = smooth_.All(buffers);
    ForRows(buffers, smooth, ends, [&](int64_t row, double* values) {
      const DynamicScale own = ScaleOf(Extremes::Of(values, columns_));
      Put(buffers, row, own);
      own.Apply(values, columns_);
      y_.Store(buffers, row, Snap::kEven, values);
    });
    return {};
  }

  /// Each column of each matrix has a scale.
  Status ByColumns(const Buffers& buffers) const {
    const std::vector<double> smooth = smooth_.All(buffers);
    const std::vector<int64_t> ends = {x_.count()};
    const int64_t matrices = rows_ == 0 ? 0 : x_.count() / rows_;
    ParallelRows(matrices, rows_ * columns_, [&](int64_t matrix) {
      std::vector<double> values(static_cast<size_t>(columns_));
      std::vector<Extremes> of(values.size());
      for (int64_t i = 0; i < rows_; ++i) {
        Load(buffers, smooth, ends, matrix * rows_ + i, values.data());
        for (size_t k = 0; k < of.size(); ++k) of[k].Join({values[k], values[k]}, i > 0);
      }
      std::vector<DynamicScale> scales(of.size());
      for (size_t k = 0; k < of.size(); ++k) {
        scales[k] = ScaleOf(of[k]);
        Put(buffers, matrix * columns_ + static_cast<int64_t>(k), scales[k]);
      }
      for (int64_t i = 0; i < rows_; ++i) {
        Load(buffers, smooth, ends, matrix * rows_ + i, values.data());
        for (size_t k = 0; k < of.size(); ++k) scales[k].Apply(&values[k], 1);
        y_.Store(buffers, matrix * rows_ + i, Snap::kEven, values.data());
      }
    });
    return {};
  }

  Status AsOne(const Buffers& buffers) const {
    const std::vector<double> smooth = smooth_.All(buffers);
    const std::vector<int64_t> ends = {x_.count()};
    std::vector<Extremes> of(static_cast<size_t>(x_.count()));
    ForRows(buffers, smooth, ends, [&](int64_t row, const double* values) {
      of[static_cast<size_t>(row)] = Extremes::Of(values, columns_);
    });
    Extremes all;
    for (size_t i = 0; i < of.size(); ++i) all.Join(of[i], i > 0);
    const DynamicScale own = ScaleOf(all);
    Put(buffers, 0, own);
    ForRows(buffers, smooth, ends, [&](int64_t row, double* values) {
      own.Apply(values, columns_);
      y_.Store(buffers, row, Snap::kEven, values);
    });
    return {};
  }

 private:
  DynamicScale ScaleOf(const Extremes& of) const {
    return symmetric_ ? DynamicScale::Symmetric(of, y_.high())
                      : DynamicScale::Shifted(of, y_.low(), y_.high());
  }

  void Put(const Buffers& buffers, int64_t i, const DynamicScale& own) const {
    scale_.Set(buffers, i, own.scale);
    offset_.Set(buffers, i, own.offset);
  }

  void Load(const Buffers& buffers, const std::vector<double>& smooth,
            const std::vector<int64_t>& ends, int64_t row, double* values) const {
    x_.Load(buffers, row, values);
    if (smooth.empty()) return;
    const size_t group = GroupEnds::Of(ends, row);
    DoubleRows().multiply(values, smooth.data() + group * static_cast<size_t>(columns_), columns_);
  }

  template <class Body>
  void ForRows(const Buffers& buffers, const std::vector<double>& smooth,
               const std::vector<int64_t>& ends, const Body& body) const {
    ParallelRowsIn<std::vector<double>>(x_.count(), columns_,
                                        [&](int64_t row, std::vector<double>* values) {
                                          values->resize(static_cast<size_t>(columns_));
                                          Load(buffers, smooth, ends, row, values->data());
                                          body(row, values->data());
                                        });
  }

  LastRows x_;
  WholeRows y_;
  Elements smooth_;
  GroupEnds groups_;
  Elements scale_, offset_;
  bool symmetric_;
  int64_t columns_, rows_;
};

/// Scales of no numbers are 0.
Plan PlanZeros(const Dynamic& of) {
  if (of.scale.empty()) return Nothing();
  const Elements scale(of.scale, 0), offset(of.symmetric ? NoTensor() : of.offset, 0);
  const std::vector<double> zeros(static_cast<size_t>(*of.scale.count()));
  return {0, [=](const Buffers& buffers) -> Status {
            scale.SetAll(buffers, zeros);
            offset.SetAll(buffers, zeros);
            return {};
          }};
}

Plan PlanDynamic(const Dynamic& of) {
  if (of.x.empty()) return PlanZeros(of);
  const DynamicQuantiser quantiser(of);
  const Over over = of.over;
  return {0, [=](const Buffers& buffers) -> Status {
            switch (over) {
              case Over::kRow:
                return quantiser.ByRows(buffers);
              case Over::kColumn:
                return quantiser.ByColumns(buffers);
              default:
                return quantiser.AsOne(buffers);
            }
          }};
}

Over OverOf(std::string_view mode) {
  return mode == "pertensor" ? Over::kAll : mode == "perchannel" ? Over::kColumn : Over::kRow;
}

Dynamic DynamicOf(const DynamicQuantParams& p) {
  return {p.x,       p.smoothScalesOptional, NoTensor(), p.yOut, p.scaleOut, NoTensor(), true,
          Over::kRow};
}

/// The offset says whether the smallest number takes part.
Dynamic DynamicOf(const DynamicQuantV2Params& p) {
  return {p.x,
          p.smoothScalesOptional,
          p.groupIndexOptional,
          p.yOut,
          p.scaleOut,
          p.offsetOut,
          !p.offsetOut.present(),
          Over::kRow};
}

Dynamic DynamicOf(const DynamicQuantV3Params& p) {
  return {p.x,         p.smoothScalesOptional, p.groupIndexOptional, p.yOut, p.scaleOut,
          p.offsetOut, p.isSymmetrical,        OverOf(p.quantMode)};
}

Dynamic DynamicOf(const DynamicQuantV4Params& p) {
  return {p.x,         p.smoothScalesOptional, p.groupIndexOptional, p.yOut, p.scaleOut,
          p.offsetOut, p.isSymmetrical,        OverOf(p.quantMode)};
}

}  // namespace

void CheckDynamicQuant(const DynamicQuantParams& p, Checker& checker) {
  CheckDynamic(DynamicOf(p), checker);
}
Plan PlanDynamicQuant(const DynamicQuantParams& p, const Product&) {
  return PlanDynamic(DynamicOf(p));
}

void CheckDynamicQuantV2(const DynamicQuantV2Params& p, Checker& checker) {
  CheckType("dstType", p.dstType, p.yOut, checker);
  CheckDynamic(DynamicOf(p), checker);
}
Plan PlanDynamicQuantV2(const DynamicQuantV2Params& p, const Product&) {
  return PlanDynamic(DynamicOf(p));
}

void CheckDynamicQuantV3(const DynamicQuantV3Params& p, Checker& checker) {
  CheckType("dstType", p.dstType, p.yOut, checker);
  CheckDynamic(DynamicOf(p), checker);
}
Plan PlanDynamicQuantV3(const DynamicQuantV3Params& p, const Product&) {
  return PlanDynamic(DynamicOf(p));
}

void CheckDynamicQuantV4(const DynamicQuantV4Params& p, Checker& checker) {
  CheckType("dstType", p.dstType, p.yOut, checker);
  checker.That(p.dstTypeMax == 0, [&] {
    return Concat("dstTypeMax value is ", p.dstTypeMax,
                  ", expected 0: other ends are those of HIFLOAT8");
  });
  CheckDynamic(DynamicOf(p), checker);
}
Plan PlanDynamicQuantV4(const DynamicQuantV4Params& p, const Product&) {
  return PlanDynamic(DynamicOf(p));
}

}  // namespace openaclnn::supporting
