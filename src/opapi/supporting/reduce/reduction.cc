// SPDX-License-Identifier: Apache-2.0
// Reductions over some dimensions.
#include <cmath>

#include "supporting/reduce/fold.h"

namespace openaclnn::supporting {

std::optional<Layout> LayoutOf(const Operand& self, std::span<const int64_t> dims) {
  std::array<bool, kMaxRank> is_reduced{};
  if (dims.empty()) is_reduced.fill(true);
  for (const int64_t dim : dims) {
    const auto wrapped = WrapDim(dim, self.rank());
    if (!wrapped) return std::nullopt;
    is_reduced[*wrapped] = true;
  }
  Layout layout;
  for (uint32_t i = 0; i < self.rank(); ++i) {
    const int64_t dim = self.dim(i), stride = self.tensor().strides[i];
    layout.result_kept.push_back(is_reduced[i] ? 1 : dim);
    if (!is_reduced[i]) layout.result.push_back(dim);
    (is_reduced[i] ? layout.reduced : layout.kept).push_back(dim);
    (is_reduced[i] ? layout.reduced_steps : layout.kept_steps).push_back(stride);
  }
  return layout;
}

bool Integral(const Params& p) {
  return DomainOf(p.tensors[0].dtype()) == Domain::kInteger &&
         DomainOf(p.first_output().dtype()) == Domain::kInteger;
}

namespace {

template <class T>
struct SumFold : OnePass {
  TreeSum<T> sum{};
  bool mean = false;
  void Add(T term) { sum.Add(term); }
  T Result(int64_t n, size_t) {
    const T total = sum.Total();
    return mean ? static_cast<T>(static_cast<double>(total) / static_cast<double>(n)) : total;
  }
};

template <class T, bool kLargest>
struct ExtremeFold : OnePass {
  T extreme{};
  bool any = false;
  void Add(T term) {
    const bool better = kLargest ? term > extreme : term < extreme;
    const auto nan = [](T value) { return std::isnan(static_cast<double>(value)); };
    if (!any || (!nan(extreme) && (better || nan(term)))) extreme = term;
    any = true;
  }
  T Result(int64_t, size_t) { return extreme; }
};

template <class T, bool kAll>
struct TruthFold : OnePass {
  bool truth = kAll;
  void Add(T term) { truth = kAll ? truth && term != 0 : truth || term != 0; }
  T Result(int64_t, size_t) { return static_cast<T>(truth); }
};

template <class T>
using LargestFold = ExtremeFold<T, true>;
template <class T>
using SmallestFold = ExtremeFold<T, false>;
template <class T>
using AllFold = TruthFold<T, true>;
template <class T>
using AnyFold = TruthFold<T, false>;

}  // namespace

void CheckResult(const Params& p, const Layout& layout, bool keep_dim, Checker& checker) {
  for (size_t i = 1; i < p.tensors.size(); ++i) {
    CheckShape(p.tensors[i], keep_dim ? layout.result_kept : layout.result, checker);
  }
  const Tensor& out = p.first_output();
  checker.That(Integral(p) || Contains(kRealTypes, out.dtype()) || out.dtype() == ACL_BOOL,
               [&] { return DtypeIs(out, "a float type, which the result is of"); });
}

void CheckReduction(const ReductionParams& p, Checker& checker) {
  const auto dims = p.dim.values();
  const auto layout = LayoutOf(p.self, dims);
  checker.That(layout.has_value(), [&] {
    return Concat(p.dim.name(), " value is ",
                  ShapeText(dims.data(), static_cast<uint32_t>(dims.size())),
                  ", expected dimensions of self, ", ShapeText(p.self));
  });
  if (layout) CheckResult(p, *layout, p.keepDim, checker);
}

void CheckExtreme(const ReductionParams& p, Checker& checker) {
  CheckReduction(p, checker);
  checker.That(!p.self.empty() || p.first_output().empty(), [&] {
    return Concat("self shape is ", ShapeText(p.self),
                  ", expected elements to take the extreme of");
  });
}

Plan PlanSum(const ReductionParams& p, const Product&) { return MakeFoldFor<SumFold>(p); }

Plan PlanMean(const ReductionParams& p, const Product&) {
  return MakeFold<double>(p, SumFold<double>{{}, {}, true});
}

Plan PlanAmax(const ReductionParams& p, const Product&) { return MakeFoldFor<LargestFold>(p); }

Plan PlanAmin(const ReductionParams& p, const Product&) { return MakeFoldFor<SmallestFold>(p); }

Plan PlanAll(const ReductionParams& p, const Product&) { return MakeFoldFor<AllFold>(p); }

Plan PlanAny(const ReductionParams& p, const Product&) { return MakeFoldFor<AnyFold>(p); }

}  // namespace openaclnn::supporting
