// SPDX-License-Identifier: Apache-2.0
// RmsNorm whose results are made whole: by scales that are given, or by those of their rows.
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "generated/norm.h"
#include "kernels/rows/rows.h"
#include "supporting/axis_numbers.h"
#include "supporting/dynamic_scale.h"
#include "supporting/in_turn.h"
#include "supporting/norm/checks.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

/// The group that is normalised is x + addend; what is left out is absent. The sum and the numbers
/// before they are made whole are outputs.
struct Normed {
  const Tensor &x, &addend, &gamma, &beta, &sum, &plain, &rstd;
};

/// One result: whole numbers, and the scale and the summand that make them.
struct Quantised {
  const Tensor &y, &scale, &offset;
  bool divides;
};

bool Wanted(const Tensor& tensor) { return tensor.present() && !tensor.empty(); }

/// How many last dimensions are normalised. gamma may be a row of a matrix.
uint32_t RankOf(const Tensor& gamma, bool one_row) { return one_row ? 1 : gamma.rank(); }

void CheckNormed(const Normed& of, bool one_row, Checker& checker) {
  constexpr DtypeSet kHalves = Dtypes(ACL_FLOAT16, ACL_BF16);
  const Shape shape = ShapeOf(of.x);
  checker.RankBetween(of.x, 1, kMaxRank);
  checker.That(Contains(kHalves, of.x.dtype()), [&] { return DtypeIs(of.x, DtypesText(kHalves)); });
  if (!checker.ok()) return;
  if (one_row) {
    const int64_t width = of.x.last_dim();
    CheckShape(of.gamma, of.gamma.rank() == 2 ? Shape{1, width} : Shape{width}, checker);
  } else {
    CheckGamma(of.gamma, of.x, checker);
  }
  checker.SameDtype(of.gamma, of.x);
  if (of.beta.present()) {
    checker.SameDtype(of.beta, of.x);
    CheckShape(of.beta, ShapeOf(of.gamma), checker);
  }
  if (of.addend.present()) {
    checker.SameDtype(of.addend, of.x).SameDtype(of.sum, of.x);
    CheckShape(of.addend, shape, checker);
    CheckShape(of.sum, shape, checker);
  }
  if (Wanted(of.plain)) CheckShape(of.plain, shape, checker);
}

void CheckStatic(const Normed& of, const Quantised& result, Checker& checker) {
  constexpr DtypeSet kWhole = Dtypes(ACL_INT8, ACL_INT32, ACL_INT4);
  checker.That(Contains(kWhole, result.y.dtype()),
               [&] { return DtypeIs(result.y, DtypesText(kWhole)); });
  if (!checker.ok()) return;
  const bool one = result.scale.count() == 1;
  if (!one) CheckShape(result.scale, ShapeOf(of.gamma), checker);
  if (result.offset.present()) CheckShape(result.offset, ShapeOf(result.scale), checker);
  CheckWhole(result.y, ShapeOf(of.x), checker);
}

void CheckAxis(int64_t axis, const Tensor& x, Checker& checker) {
  checker.That(axis == -1 || axis + 1 == x.rank(), [&] {
    return Concat("axis value is ", axis, ", expected -1, the last dimension of ", x.name());
  });
}

/// Groups of numbers, each some rows along the last dimension.
class Norm {
 public:
  Norm(const Normed& of, double epsilon, bool one_row)
      : x_(of.x),
        addend_(Optional(of.addend)),
        sum_(Optional(of.sum)),
        plain_(Optional(of.plain)),
        gamma_(of.gamma, 1),
        beta_(of.beta, 0),
        rstd_(Wanted(of.rstd) ? of.rstd : NoTensor(), 0),
        epsilon_(epsilon) {
    for (uint32_t i = of.x.rank() - RankOf(of.gamma, one_row); i + 1 < of.x.rank(); ++i) {
      rows_ = WrappingProduct(rows_, of.x.dim(i));
    }
    width_ = rows_ * x_.width();
  }

  /// Calls finish(group, values), for each group; the values may be changed.
  template <class Finish>
  void Run(const Buffers& buffers, const Finish& finish) const {
    const std::vector<double> weights = gamma_.All(buffers);
    std::vector<double> biases = beta_.All(buffers);
    const bool moves = !biases.empty();
    biases.resize(weights.size());
    const int64_t groups = rows_ == 0 ? 0 : x_.count() / rows_;
    using Room = std::array<std::vector<double>, 2>;
    ParallelRowsIn<Room>(groups, width_, [&](int64_t group, Room* room) {
      auto& [values, more] = *room;
      values.resize(static_cast<size_t>(width_));
      Load(x_, buffers, group, values.data());
      if (addend_) {
        more.resize(values.size());
        Load(*addend_, buffers, group, more.data());
        DoubleRows().sum.join(more.data(), width_, values.data());
        Store(*sum_, buffers, group, values.data());
      }
      const double squares = DoubleRows().distances(values.data(), 0, width_);
      const double rstd = 1 / std::sqrt(squares / static_cast<double>(width_) + epsilon_);
      rstd_.Set(buffers, group, rstd);
      DoubleRows().scale(values.data(), 0, rstd, width_);
      DoubleRows().multiply(values.data(), weights.data(), width_);
      if (plain_) Store(*plain_, buffers, group, values.data());
      if (moves) DoubleRows().sum.join(biases.data(), width_, values.data());
      finish(group, values.data());
    });
  }

  int64_t width() const { return width_; }
  /// The first row of a group along the last dimension, and their number.
  int64_t FirstRow(int64_t group) const { return group * rows_; }
  int64_t rows() const { return rows_; }

 private:
  static std::optional<LastRows> Optional(const Tensor& tensor) {
    if (!Wanted(tensor)) return std::nullopt;
    return LastRows(tensor);
  }
  void Load(const LastRows& from, const Buffers& buffers, int64_t group, double* to) const {
    for (int64_t i = 0; i < rows_; ++i) {
      from.Load(buffers, FirstRow(group) + i, to + i * from.width());
    }
  }
  void Store(const LastRows& to, const Buffers& buffers, int64_t group, const double* from) const {
    for (int64_t i = 0; i < rows_; ++i) {
      to.Store(buffers, FirstRow(group) + i, from + i * to.width());
    }
  }

  LastRows x_;
  std::optional<LastRows> addend_, sum_, plain_;
  Elements gamma_, beta_, rstd_;
  double epsilon_;
  int64_t rows_ = 1, width_ = 0;
};

/// Whole numbers of the groups by scales that are given, one for each element of a group or one.
class StaticResult {
 public:
  StaticResult(const Quantised& of, int64_t width)
      : y_(of.y),
        scale_(of.scale, Shape{width}, 0, 1),
        offset_(of.offset, Shape{width}, 0, 0),
        divides_(of.divides) {}

  /// Reads what the groups share.
  void Read(const Buffers& buffers) {
    scales_ = scale_.All(buffers);
    offsets_ = offset_.All(buffers);
  }

  void Put(const Buffers& buffers, const Norm& norm, int64_t group, double* values) const {
    divides_ ? scale_.Divide(scales_, 0, values) : scale_.Multiply(scales_, 0, values);
    offset_.Add(offsets_, 0, values);
    for (int64_t i = 0; i < norm.rows(); ++i) {
      y_.Store(buffers, norm.FirstRow(group) + i, Snap::kEven, values + i * y_.width());
    }
  }

 private:
  WholeRows y_;
  AxisNumbers scale_, offset_;
  bool divides_;
  std::vector<double> scales_, offsets_;
};

/// Whole numbers of the rows by scales of their own.
class DynamicResult {
 public:
  DynamicResult(const Tensor& y, const Tensor& scale, const Tensor& smooth)
      : y_(y), scale_(scale, 0), smooth_(smooth, Shape{y_.width()}, 0, 1) {}

  void Read(const Buffers& buffers) { factors_ = smooth_.All(buffers); }

  void Put(const Buffers& buffers, const Norm&, int64_t row, double* values) const {
    smooth_.Multiply(factors_, 0, values);
    const DynamicScale own = DynamicScale::Symmetric(Extremes::Of(values, y_.width()), y_.high());
    scale_.Set(buffers, row, own.scale);
    own.Apply(values, y_.width());
    y_.Store(buffers, row, Snap::kEven, values);
  }

 private:
  WholeRows y_;
  Elements scale_;
  AxisNumbers smooth_;
  std::vector<double> factors_;
};

template <class Result>
Plan MakePlan(const Norm& norm, const std::vector<Result>& results) {
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<Result> own = results;
            for (Result& each : own) each.Read(buffers);
            norm.Run(buffers, [&](int64_t group, double* values) {
              const std::vector<double> kept(values, values + norm.width());
              for (size_t i = 0; i < own.size(); ++i) {
                if (i > 0) std::copy(kept.begin(), kept.end(), values);
                own[i].Put(buffers, norm, group, values);
              }
            });
            return {};
          }};
}

Normed NormedOf(const AddRmsNormQuantParams& p) {
  return {p.x1, p.x2, p.gamma, NoTensor(), p.xOut, NoTensor(), NoTensor()};
}
Normed NormedOf(const AddRmsNormQuantV2Params& p) {
  return {p.x1, p.x2, p.gamma, p.betaOptional, p.xOut, p.rmsNormOut, NoTensor()};
}
Normed NormedOf(const AddRmsNormDynamicQuantParams& p) {
  return {p.x1, p.x2, p.gamma, NoTensor(), p.xOut, NoTensor(), NoTensor()};
}
Normed NormedOf(const AddRmsNormDynamicQuantV2Params& p) {
  return {p.x1, p.x2, p.gamma, p.betaOptional, p.xOut, NoTensor(), NoTensor()};
}
Normed NormedOf(const RmsNormQuantParams& p) {
  return {p.x, NoTensor(), p.gamma, p.beta, NoTensor(), NoTensor(), NoTensor()};
}
Normed NormedOf(const RmsNormQuantV3Params& p) {
  return {p.x,
          NoTensor(),
          p.gamma,
          p.betaOptional,
          NoTensor(),
          NoTensor(),
          p.outputRstd ? p.rstdOut : NoTensor()};
}

template <class P>
std::vector<Quantised> ResultsOf(const P& p) {
  std::vector<Quantised> results = {{p.y1Out, p.scales1, p.zeroPoints1Optional, p.divMode}};
  if (p.scales2Optional.present()) {
    results.push_back({p.y2Out, p.scales2Optional, p.zeroPoints2Optional, p.divMode});
  }
  return results;
}

template <class P>
void CheckAdded(const P& p, Checker& checker) {
  const Normed normed = NormedOf(p);
  CheckNormed(normed, false, checker);
  CheckAxis(p.axis, p.x1, checker);
  for (const Quantised& each : ResultsOf(p)) CheckStatic(normed, each, checker);
  checker.That(p.scales2Optional.present() || !p.zeroPoints2Optional.present(), [&] {
    return Concat("zeroPoints2Optional value is a tensor, expected null without scales2Optional");
  });
}

Plan PlanStatic(const Normed& of, double epsilon, bool one_row,
                const std::vector<Quantised>& results) {
  if (of.x.empty()) return Nothing();
  const Norm norm(of, epsilon, one_row);
  std::vector<StaticResult> own;
  for (const Quantised& each : results) own.emplace_back(each, norm.width());
  return MakePlan(norm, own);
}

bool WantsFirst(const std::vector<bool>& mask) { return mask.empty() || Asks(mask, 0); }

/// Without a mask there is a second result if both smoothing factors are given.
bool WantsSecond(const Tensor& smooth1, const Tensor& smooth2, const std::vector<bool>& mask) {
  return mask.empty() ? smooth1.present() && smooth2.present() : Asks(mask, 1);
}

/// The results of AddRmsNormDynamicQuant that are wanted.
struct DynamicTensors {
  const Tensor &y, &scale, &smooth;
};

template <class P>
std::vector<DynamicTensors> DynamicOf(const P& p, bool first, bool second) {
  std::vector<DynamicTensors> results;
  if (first) results.push_back({p.y1Out, p.scale1Out, p.smoothScale1Optional});
  if (second) results.push_back({p.y2Out, p.scale2Out, p.smoothScale2Optional});
  return results;
}

std::vector<DynamicTensors> DynamicOf(const AddRmsNormDynamicQuantParams& p) {
  return DynamicOf(p, true, WantsSecond(p.smoothScale1Optional, p.smoothScale2Optional, {}));
}
std::vector<DynamicTensors> DynamicOf(const AddRmsNormDynamicQuantV2Params& p) {
  return DynamicOf(
      p, WantsFirst(p.outputMaskOptional),
      WantsSecond(p.smoothScale1Optional, p.smoothScale2Optional, p.outputMaskOptional));
}

template <class P>
void CheckDynamic(const P& p, Checker& checker) {
  const Normed normed = NormedOf(p);
  checker.RankBetween(p.x1, 2, kMaxRank).Rank(p.gamma, 1);
  CheckNormed(normed, false, checker);
  if (!checker.ok()) return;
  Shape rows = ShapeOf(p.x1);
  rows.pop_back();
  for (const DynamicTensors& each : DynamicOf(p)) {
    CheckWhole(each.y, ShapeOf(p.x1), checker);
    CheckShape(each.scale, rows, checker);
    if (!each.smooth.present()) continue;
    checker.SameDtype(each.smooth, p.x1);
    CheckShape(each.smooth, ShapeOf(p.gamma), checker);
  }
}

template <class P>
Plan PlanDynamic(const P& p) {
  if (p.x1.empty()) return Nothing();
  std::vector<DynamicResult> results;
  for (const DynamicTensors& each : DynamicOf(p)) {
    results.emplace_back(each.y, each.scale, each.smooth);
  }
  return MakePlan(Norm(NormedOf(p), p.epsilon, false), results);
}

}  // namespace

void CheckAddRmsNormQuant(const AddRmsNormQuantParams& p, Checker& checker) {
  CheckAdded(p, checker);
}
Plan PlanAddRmsNormQuant(const AddRmsNormQuantParams& p, const Product&) {
  return PlanStatic(NormedOf(p), p.epsilon, false, ResultsOf(p));
}

void CheckAddRmsNormQuantV2(const AddRmsNormQuantV2Params& p, Checker& checker) {
  CheckAdded(p, checker);
}
Plan PlanAddRmsNormQuantV2(const AddRmsNormQuantV2Params& p, const Product&) {
  return PlanStatic(NormedOf(p), p.epsilon, false, ResultsOf(p));
}

void CheckAddRmsNormDynamicQuant(const AddRmsNormDynamicQuantParams& p, Checker& checker) {
  CheckDynamic(p, checker);
}
Plan PlanAddRmsNormDynamicQuant(const AddRmsNormDynamicQuantParams& p, const Product&) {
  return PlanDynamic(p);
}

void CheckAddRmsNormDynamicQuantV2(const AddRmsNormDynamicQuantV2Params& p, Checker& checker) {
  const size_t flags = p.outputMaskOptional.size();
  checker.That(flags == 0 || flags == 2,
               [&] { return Concat("outputMaskOptional size is ", flags, ", expected 0 or 2"); });
  checker.That(flags != 2 || p.outputMaskOptional[0] || p.outputMaskOptional[1], [] {
    return Concat("outputMaskOptional value is false for both, expected an output");
  });
  CheckDynamic(p, checker);
}
Plan PlanAddRmsNormDynamicQuantV2(const AddRmsNormDynamicQuantV2Params& p, const Product&) {
  return PlanDynamic(p);
}

void CheckRmsNormQuant(const RmsNormQuantParams& p, Checker& checker) {
  CheckNormed(NormedOf(p), true, checker);
  CheckStatic(NormedOf(p), {p.y, p.scale, p.offset, false}, checker);
}
Plan PlanRmsNormQuant(const RmsNormQuantParams& p, const Product&) {
  return PlanStatic(NormedOf(p), p.epsilon, true, {{p.y, p.scale, p.offset, false}});
}

void CheckRmsNormQuantV3(const RmsNormQuantV3Params& p, Checker& checker) {
  CheckNormed(NormedOf(p), true, checker);
  CheckStatic(NormedOf(p), {p.y, p.scale, p.offsetOptional, p.divMode}, checker);
  if (!checker.ok() || !p.outputRstd) return;
  Shape shape = ShapeOf(p.x);
  shape.back() = 1;
  CheckShape(p.rstdOut, shape, checker);
}
Plan PlanRmsNormQuantV3(const RmsNormQuantV3Params& p, const Product&) {
  return PlanStatic(NormedOf(p), p.epsilon, true, {{p.y, p.scale, p.offsetOptional, p.divMode}});
}

}  // namespace openaclnn::supporting
