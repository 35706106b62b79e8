// SPDX-License-Identifier: Apache-2.0
// Variances, norms, products, medians, log-sum-exp, sums past NaN and both extremes at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/rows/softmax_rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/along.h"
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

/// The lower of the two in the middle; NaN if there is one, unless they are left out.
template <class T, bool kWithoutNan>
struct MedianFoldOf : OnePass {
  std::vector<T> terms;
  T nan = 0;
  void Add(T term) {
    if (IsNan(term)) {
      if (kWithoutNan) return;
      nan = term;
    }
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
template <class T>
using MedianFold = MedianFoldOf<T, false>;
template <class T>
using MedianOfNumbersFold = MedianFoldOf<T, true>;

/// Elements of rows that a thread keeps, which stay in a second-level cache.
constexpr int64_t kMostInRows = int64_t{1} << 16;

bool FitsInRows(const Layout& layout, int64_t together) {
  const int64_t n = CountOf(layout.reduced);
  return n > 0 && n <= kMostInRows / together;
}

/// The result of the first operand's rows, so many at a time, to the first output:
/// reduce(rows, count, n, results) gets `count` rows of n elements, one behind the other.
template <class Reduce>
Plan MakeOfRows(const Params& p, const Layout& layout, int64_t together, Reduce reduce) {
  const Tensor &self = p.tensors[0], &out = p.first_output();
  const int64_t self_bytes = BytesOf(self), out_bytes = BytesOf(out);
  const Walk terms = TermsOf(layout, self_bytes);
  const Offsets kept = OffsetsOf(layout.kept, layout.kept_steps), to(out, out.rank());
  const int64_t rows = CountOf(layout.kept), n = terms.count();
  return {0,
          [=, load = LoadOf<double>(self), store = StoreOf<double>(out), self_at = self.place,
           out_at = out.place](const Buffers& buffers) -> Status {
            struct Room {
              std::vector<double> rows, results;
            };
            ParallelRowsIn<Room>(
                DivideUp(rows, together), n * together, [&](int64_t group, Room* room) {
                  const int64_t first = group * together, count = std::min(together, rows - first);
                  room->rows.resize(static_cast<size_t>(count * n));
                  room->results.resize(static_cast<size_t>(count));
                  double* to_row = room->rows.data();
                  for (int64_t row = first; row < first + count; ++row) {
                    Walk::Pointers origin{};
                    origin[0] = self_at(buffers) + kept(row) * self_bytes;
                    terms.ForRunsInOrder(origin, [&](const Walk::Pointers& at, int64_t run) {
                      load(at[0], terms.step(0), run, to_row);
                      to_row += run;
                    });
                  }
                  reduce(room->rows.data(), count, n, room->results.data());
                  for (int64_t i = 0; i < count; ++i) {
                    store(&room->results[static_cast<size_t>(i)], 1,
                          out_at(buffers) + to(first + i) * out_bytes, 0);
                  }
                });
            return {};
          }};
}

/// So many products do not wait for each other.
constexpr int64_t kProducts = 8;

/// Each product is taken in order.
void MultiplyRows(const double* rows, int64_t count, int64_t n, double* results) {
  if (count == kProducts) {
    std::array<double, kProducts> products;
    products.fill(1);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t r = 0; r < kProducts; ++r) products[static_cast<size_t>(r)] *= rows[r * n + i];
    }
    std::copy_n(products.data(), kProducts, results);
    return;
  }
  for (int64_t r = 0; r < count; ++r) {
    results[r] = std::accumulate(rows + r * n, rows + (r + 1) * n, 1.0, std::multiplies<>());
  }
}

Plan MakeProduct(const Params& p, const Layout& layout) {
  const Tensor &self = p.tensors[0], &out = p.first_output();
  if (IsComplex(self) || IsComplex(out)) return MakeFold<Pair>(p, layout, ProductFold<Pair>());
  if (!Integral(p) && out.dtype() != ACL_BOOL && FitsInRows(layout, kProducts)) {
    return MakeOfRows(p, layout, kProducts, MultiplyRows);
  }
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
  CheckDim(p.self, p.dim, checker);
  if (checker.ok()) CheckResult(p, *LayoutOf(p.self, {&p.dim, 1}), p.keepDim, checker);
}

Plan PlanProductAlong(const ProductAlongParams& p, const Product&) {
  return MakeProduct(p, *LayoutOf(p.self, {&p.dim, 1}));
}

Plan PlanLogSumExp(const ReductionParams& p, const Product&) {
  const Layout layout = *LayoutOf(p.self, p.dim.values());
  if (!FitsInRows(layout, 1)) return MakeFold<double>(p, LogSumExpFold());
  return MakeOfRows(p, layout, 1,
                    [kernels = OPENACLNN_TARGET_SELECT(kDoubleSoftmax)](double* row, int64_t,
                                                                        int64_t n, double* result) {
                      double largest = kernels->largest(row, n);
                      if (std::isinf(largest)) largest = 0;
                      *result = largest + std::log(kernels->exp(row, largest, n, row));
                    });
}

Plan PlanPresentSum(const ReductionParams& p, const Product&) {
  const Layout layout = *LayoutOf(p.self, p.dim.values());
  if (Integral(p) || !FitsInRows(layout, 1)) return MakeFoldFor<PresentSumFold>(p);
  return MakeOfRows(p, layout, 1,
                    [kernels = OPENACLNN_TARGET_SELECT(kDoubleRowKernels)](
                        double* row, int64_t, int64_t n, double* result) {
                      for (int64_t i = 0; i < n; ++i) row[i] = IsNan(row[i]) ? 0 : row[i];
                      *result = kernels->sum.row(row, n);
                    });
}

Plan PlanMedian(const ReductionParams& p, const Product&) { return MakeFoldFor<MedianFold>(p); }

Plan PlanMedianOfNumbers(const ReductionParams& p, const Product&) {
  return MakeFoldFor<MedianOfNumbersFold>(p);
}

Plan PlanExtremes(const ReductionParams& p, const Product&) { return MakeFoldFor<ExtremesFold>(p); }

void CheckExtremesAlong(const ExtremesAlongParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  if (!checker.ok()) return;
  CheckResult(p, *LayoutOf(p.self, {&p.dim, 1}), p.keepDim, checker);
  checker.That(!p.self.empty() || p.min.empty(), [&] {
    return Concat("self shape is ", ShapeText(p.self),
                  ", expected elements to take the extremes of");
  });
}

Plan PlanExtremesAlong(const ExtremesAlongParams& p, const Product&) {
  return MakeFoldFor<ExtremesFold>(p, *LayoutOf(p.self, {&p.dim, 1}));
}

}  // namespace openaclnn::supporting
