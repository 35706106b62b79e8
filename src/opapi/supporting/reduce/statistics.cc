// SPDX-License-Identifier: Apache-2.0
// Variances, norms, products, medians, log-sum-exp, sums past NaN and both extremes at once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "supporting/reduce/norm_fold.h"

namespace openaclnn::supporting {
namespace {

/// The mean, then the squares of the distances from it.
struct VarianceFold {
  int64_t correction = 1;
  bool root = false;
  TreeSum<double> sum{};
  double mean = 0;
  bool has_mean = false;

  void Add(double term) { sum.Add(has_mean ? (term - mean) * (term - mean) : term); }
  bool Again(int64_t n) {
    if (has_mean) return false;
    mean = sum.Total() / static_cast<double>(n);
    sum = {};
    return has_mean = true;
  }
  double Result(int64_t n, size_t i) {
    if (i == 1) return mean;
    // The difference of any two int64_t need not be one.
    const double freedom = static_cast<double>(n) - static_cast<double>(correction);
    const double variance = sum.Total() / std::max(freedom, 0.0);
    return root ? std::sqrt(variance) : variance;
  }
};

/// Integers wrap.
template <class T>
struct ProductFold : OnePass {
  std::conditional_t<std::is_integral_v<T>, uint64_t, T> product = 1;
  void Add(T term) {
    if constexpr (std::is_same_v<T, Pair>) {
      product = ProductOf(product, term);
    } else {
      product *= static_cast<decltype(product)>(term);
    }
  }
  T Result(int64_t, size_t) { return static_cast<T>(product); }
};

template <class T>
struct PresentSumFold : OnePass {
  TreeSum<T> sum{};
  void Add(T term) {
    if (!IsNan(term)) sum.Add(term);
  }
  T Result(int64_t, size_t) { return sum.Total(); }
};

/// The largest, then the sum of exponentials beside it.
struct LogSumExpFold {
  double max = -INFINITY;
  bool has_max = false;
  TreeSum<double> sum{};

  void Add(double term) {
    if (has_max) {
      sum.Add(std::exp(term - max));
    } else if (term > max || std::isnan(term)) {
      max = std::isnan(max) ? max : term;
    }
  }
  bool Again(int64_t) {
    if (has_max) return false;
    if (std::isinf(max)) max = 0;
    return has_max = true;
  }
  double Result(int64_t, size_t) { return max + std::log(sum.Total()); }
};

template <class T>
struct ExtremesFold : OnePass {
  T extremes[2] = {};
  bool any = false;
  void Add(T term) {
    if (!any || IsNan(term)) extremes[0] = extremes[1] = term;
    any = true;
    if (IsNan(extremes[0])) return;
    extremes[0] = std::min(extremes[0], term);
    extremes[1] = std::max(extremes[1], term);
  }
  T Result(int64_t, size_t i) { return extremes[i]; }
};

/// The lower of the two in the middle; NaN if there is one.
template <class T>
struct MedianFold : OnePass {
  std::vector<T> terms;
  T nan = 0;
  void Add(T term) {
    if (IsNan(term)) nan = term;
    terms.push_back(term);
  }
  T Result(int64_t, size_t) {
    if (IsNan(nan) || terms.empty()) {
      return terms.empty() ? std::numeric_limits<T>::quiet_NaN() : nan;
    }
    const auto middle = terms.begin() + static_cast<int64_t>(terms.size() - 1) / 2;
    std::nth_element(terms.begin(), middle, terms.end());
    return *middle;
  }
};

Plan MakeProduct(const Params& p, const Layout& layout) {
  const Tensor &self = p.tensors[0], &out = p.first_output();
  if (IsComplex(self) || IsComplex(out)) return MakeFold<Pair>(p, layout, ProductFold<Pair>());
  return out.dtype() == ACL_BOOL ? MakeFoldFor<AllFold>(p, layout)
                                 : MakeFoldFor<ProductFold>(p, layout);
}

}  // namespace

Plan PlanVariance(const ReductionParams& p, const Product&) {
  return MakeFold<double>(p, VarianceFold{.correction = p.correction});
}

Plan PlanDeviation(const ReductionParams& p, const Product&) {
  return MakeFold<double>(p, VarianceFold{.correction = p.correction, .root = true});
}

Plan PlanNorm(const ReductionParams& p, const Product&) {
  return MakeNorm(p, {}, *LayoutOf(p.self, p.dim.values()), p.order.number);
}

Plan PlanProduct(const ReductionParams& p, const Product&) {
  return MakeProduct(p, *LayoutOf(p.self, p.dim.values()));
}

void CheckProductAlong(const ProductAlongParams& p, Checker& checker) {
  const auto layout = LayoutOf(p.self, {&p.dim, 1});
  checker.That(layout.has_value(), [&] {
    return Concat("dim value is ", p.dim, ", expected a dimension of self, ", ShapeText(p.self));
  });
  if (layout) CheckResult(p, *layout, p.keepDim, checker);
}

Plan PlanProductAlong(const ProductAlongParams& p, const Product&) {
  return MakeProduct(p, *LayoutOf(p.self, {&p.dim, 1}));
}

Plan PlanLogSumExp(const ReductionParams& p, const Product&) {
  return MakeFold<double>(p, LogSumExpFold());
}

Plan PlanPresentSum(const ReductionParams& p, const Product&) {
  return MakeFoldFor<PresentSumFold>(p);
}

Plan PlanMedian(const ReductionParams& p, const Product&) { return MakeFoldFor<MedianFold>(p); }

Plan PlanExtremes(const ReductionParams& p, const Product&) { return MakeFoldFor<ExtremesFold>(p); }

}  // namespace openaclnn::supporting
