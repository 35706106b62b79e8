// SPDX-License-Identifier: Apache-2.0
// Variances, norms, products, log-sum-exp, sums past NaN and both extremes at once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "supporting/fold.h"
#include "supporting/operators.h"

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
    const auto freedom = static_cast<double>(std::max<int64_t>(n - correction, 0));
    const double variance = sum.Total() / freedom;
    return root ? std::sqrt(variance) : variance;
  }
};

/// (sum |x|^p)^(1/p); for infinite p an extreme, for 0 how many are not 0.
struct NormFold : OnePass {
  explicit NormFold(double order) : p(order) {}

  void Add(double term) {
    const double size = std::abs(term);
    if (std::isinf(p)) {
      const bool better = !any || (p > 0 ? size > extreme : size < extreme);
      if (!std::isnan(extreme) && (better || std::isnan(size))) extreme = size;
      any = true;
    } else {
      sum.Add(p == 2 ? size * size : p == 1 ? size : p == 0 ? size != 0 : std::pow(size, p));
    }
  }
  double Result(int64_t, size_t) {
    if (std::isinf(p)) return extreme;
    const double total = sum.Total();
    return p == 2 ? std::sqrt(total) : p == 1 || p == 0 ? total : std::pow(total, 1 / p);
  }

  double p;
  TreeSum<double> sum{};
  double extreme = 0;
  bool any = false;
};

/// Integers wrap.
template <class T>
struct ProductFold : OnePass {
  std::conditional_t<std::is_integral_v<T>, uint64_t, T> product = 1;
  void Add(T term) { product *= static_cast<decltype(product)>(term); }
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

std::optional<Layout> LayoutAlong(const Params& p) {
  return LayoutOf(p.tensors[0], {p.integers[1]});
}

}  // namespace

// keepDim, correction.
Plan PlanVariance(const Params& p) {
  return MakeFold<double>(p, VarianceFold{.correction = p.integers[1]});
}

Plan PlanDeviation(const Params& p) {
  return MakeFold<double>(p, VarianceFold{.correction = p.integers[1], .root = true});
}

Plan PlanNorm(const Params& p) { return MakeFold<double>(p, NormFold(p.values[0].number)); }

// Lists x and out, each to a number.
void CheckForeachNorm(const Params& p, Checker& checker) {
  const size_t count = p.lists[0].size;
  checker.That(p.lists[1].size == count, [&] {
    return Concat("out size is ", p.lists[1].size, ", expected that of x, ", count);
  });
  for (size_t i = 0; checker.ok() && i < count; ++i) {
    const Operand& out = p.tensors[count + i];
    checker.That(out.count() == 1,
                 [&] { return Concat("out shape is ", ShapeText(out), ", expected one element"); });
  }
}

Plan PlanForeachNorm(const Params& p) {
  const size_t count = p.lists[0].size;
  std::vector<Plan> plans;
  for (size_t i = 0; i < count; ++i) {
    plans.push_back(MakeFold<double>(p, {i, count + i, count + i + 1}, *LayoutOf(p.tensors[i], {}),
                                     NormFold(p.values[0].number)));
  }
  return {0, [plans](const Buffers& buffers) -> Status {
            for (const Plan& plan : plans) {
              Status status = plan.work(buffers);
              if (!status.ok()) return status;
            }
            return {};
          }};
}

Plan PlanProduct(const Params& p) { return MakeFoldFor<ProductFold>(p); }

// keepDim, dim.
void CheckProductAlong(const Params& p, Checker& checker) {
  const auto layout = LayoutAlong(p);
  checker.That(layout.has_value(), [&] {
    return Concat("dim value is ", p.integers[1], ", expected a dimension of self, ",
                  ShapeText(p.tensors[0]));
  });
  if (layout) CheckResult(p, *layout, p.integers[0] != 0, checker);
}

Plan PlanProductAlong(const Params& p) {
  const Layout layout = *LayoutAlong(p);
  return Integral(p) ? MakeFold<int64_t>(p, layout, ProductFold<int64_t>())
                     : MakeFold<double>(p, layout, ProductFold<double>());
}

Plan PlanLogSumExp(const Params& p) { return MakeFold<double>(p, LogSumExpFold()); }

Plan PlanPresentSum(const Params& p) { return MakeFoldFor<PresentSumFold>(p); }

void CheckExtremes(const Params& p, Checker& checker) {
  CheckReduction(p, checker);
  checker.That(!p.tensors[0].empty() || p.out().empty(), [&] {
    return Concat("self shape is ", ShapeText(p.tensors[0]),
                  ", expected elements to take the extremes of");
  });
}

Plan PlanMedian(const Params& p) { return MakeFoldFor<MedianFold>(p); }

Plan PlanExtremes(const Params& p) { return MakeFoldFor<ExtremesFold>(p); }

}  // namespace openaclnn::supporting
