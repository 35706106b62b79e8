// SPDX-License-Identifier: Apache-2.0
// Reductions over some dimensions.
#include "supporting/reduction.h"

#include <cmath>

#include "supporting/fold.h"

namespace openaclnn::supporting {

std::optional<uint32_t> WrapDim(int64_t dim, uint32_t rank) {
  const int64_t limit = rank == 0 ? 1 : rank;  // a scalar has dimensions -1 and 0
  if (dim < -limit || dim >= limit) return std::nullopt;
  return static_cast<uint32_t>(dim < 0 ? dim + limit : dim);
}

std::vector<int64_t> DimsOf(const Params& p) {
  if (p.arrays.empty()) return {};
  return {p.arrays[0].values().begin(), p.arrays[0].values().end()};
}

std::optional<Layout> LayoutOf(const Operand& self, const std::vector<int64_t>& dims) {
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
         DomainOf(p.out().dtype()) == Domain::kInteger;
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

bool IsExtreme(const Params& p) { return p.row.plan == PlanAmax || p.row.plan == PlanAmin; }

}  // namespace

void CheckResult(const Params& p, const Layout& layout, bool keep_dim, Checker& checker) {
  for (size_t i = 1; i < p.tensors.size(); ++i) {
    CheckShape(p.tensors[i], keep_dim ? layout.result_kept : layout.result, checker);
  }
  checker.That(!IsExtreme(p) || CountOf(layout.reduced) > 0 || CountOf(layout.kept) == 0, [&] {
    return Concat(p.tensors[0].name(), " shape is ", ShapeText(p.tensors[0]),
                  ", expected elements to take the extreme of");
  });
  checker.That(Integral(p) || Contains(kRealTypes, p.out().dtype()) || p.out().dtype() == ACL_BOOL,
               [&] { return DtypeIs(p.out(), "a float type, which the result is of"); });
}

void CheckReduction(const Params& p, Checker& checker) {
  const auto layout = LayoutOf(p.tensors[0], DimsOf(p));
  checker.That(layout.has_value(), [&] {
    return Concat(
        p.arrays[0].name(), " value is ",
        ShapeText(p.arrays[0].values().data(), static_cast<uint32_t>(p.arrays[0].values().size())),
        ", expected dimensions of ", p.tensors[0].name(), ", ", ShapeText(p.tensors[0]));
  });
  if (layout) CheckResult(p, *layout, p.integers[0] != 0, checker);
}

void CheckTotal(const Params& p, Checker& checker) {
  CheckResult(p, *LayoutOf(p.tensors[0], {}), false, checker);
}

Plan PlanSum(const Params& p) { return MakeFoldFor<SumFold>(p); }

Plan PlanMean(const Params& p) { return MakeFold<double>(p, SumFold<double>{{}, {}, true}); }

Plan PlanAmax(const Params& p) { return MakeFoldFor<LargestFold>(p); }

Plan PlanAmin(const Params& p) { return MakeFoldFor<SmallestFold>(p); }

Plan PlanAll(const Params& p) { return MakeFoldFor<AllFold>(p); }

Plan PlanAny(const Params& p) { return MakeFoldFor<AnyFold>(p); }

}  // namespace openaclnn::supporting
