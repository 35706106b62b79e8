// SPDX-License-Identifier: Apache-2.0
// Rows of float that are normalised, compiled once for each instruction set.
#include "kernels/rows/double_fold-inl.h"
#include "kernels/rows/normal_rows.h"
#include "kernels/simd/double_lanes-inl.h"

namespace openaclnn::OPENACLNN_TARGET {

/// Both sums of a row on the way.
template <>
struct Lanes<GradientSums> {
  Lanes<double> gradients, products;

  static Lanes All(GradientSums sums) {
    return {Lanes<double>::All(sums.gradients), Lanes<double>::All(sums.products)};
  }
};

template <class Sums, class Op>
void JoinLanes(const Lanes<GradientSums>& term, Lanes<GradientSums>* acc) {
  JoinLanes<double, Op>(term.gradients, &acc->gradients);
  JoinLanes<double, Op>(term.products, &acc->products);
}

template <class Sums, class Op>
GradientSums JoinAll(const Lanes<GradientSums>& acc) {
  return {JoinAll<double, Op>(acc.gradients), JoinAll<double, Op>(acc.products)};
}

namespace {

using V = Lanes<double>;
using Row = NormalRow<double>;

/// Cut to the digits of a float, the last of them odd where something was cut off: to round that to
/// fewer digits is to round the value itself.
__attribute__((always_inline)) inline V::Part OddFloats(V::Part value) {
  typedef uint64_t Bits __attribute__((vector_size(kRegisterBytes)));
  constexpr uint64_t kCut = (uint64_t{1} << 29) - 1;
  const Bits bits = reinterpret_cast<Bits>(value);
  // Adding what is cut off at its most carries into the bit above unless it is 0.
  const Bits odd = ((bits & kCut) + kCut) & (kCut + 1);
  return reinterpret_cast<V::Part>((bits & ~kCut) | odd);
}

struct WholeLanes {
  template <class Stored>
  V Load(const Stored* from) const {
    return V::Load(from);
  }
};

/// The first n; the others are 0.
struct TailLanes {
  template <class Stored>
  V Load(const Stored* from) const {
    return V::LoadTail(from, n, 0);
  }
  int64_t n;
};

/// Weights or biases: of each element, or one of all.
struct OfEach {
  explicit OfEach(const double* all) : values(all) {}
  template <class At>
  __attribute__((always_inline)) V Of(int64_t i, const At& lanes) const {
    return lanes.Load(values + i);
  }
  const double* values;
};

struct OfAll {
  explicit OfAll(const double* one) : value(*one) {}
  template <class At>
  __attribute__((always_inline)) double Of(int64_t, const At&) const {
    return value;
  }
  double value;
};

/// A row in registers and pointers of its own: what is stored cannot change it.
struct Normal {
  explicit Normal(const Row& row) : x(row.x), mean(row.mean), rstd(row.rstd) {}

  /// The elements from i on.
  template <class At>
  __attribute__((always_inline)) V Of(int64_t i, const At& lanes) const {
    return (lanes.Load(x + i) - mean) * rstd;
  }

  const float* x;
  double mean, rstd;
};

template <bool kOnceMore>
__attribute__((always_inline)) inline void Store(V result, float* to) {
  for (auto& part : result.part) {
    if constexpr (kOnceMore) part = OddFloats(part);
    part = AsResult(part);
  }
  result.StoreRounded(to);
}

/// y[i] = f(i, lanes), rounded.
template <bool kOnceMore, class Function>
void ForRow(int64_t n, float* y, Function function) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store<kOnceMore>(function(i, WholeLanes()), y + i);
  if (i == n) return;
  float rest[kLanes];
  Store<kOnceMore>(function(i, TailLanes{n - i}), rest);
  for (int64_t j = 0; j < n - i; ++j) y[i + j] = rest[j];
}

template <class Weights>
void NormalizeBy(const Row& row, const double* biases, int64_t n, bool once_more, float* y) {
  const Normal normal(row);
  const Weights weight(row.weight), bias(biases);
  const auto result = [=](int64_t i, auto lanes) __attribute__((always_inline)) {
    return normal.Of(i, lanes) * weight.Of(i, lanes) + bias.Of(i, lanes);
  };
  once_more ? ForRow<true>(n, y, result) : ForRow<false>(n, y, result);
}

void Normalize(const Row& row, const double* bias, int64_t n, bool once_more, float* y) {
  if (row.one_weight) return NormalizeBy<OfAll>(row, bias, n, once_more, y);
  NormalizeBy<OfEach>(row, bias, n, once_more, y);
}

template <class Weights>
struct GradientTerms {
  template <class At>
  __attribute__((always_inline)) Lanes<GradientSums> Of(int64_t i, const At& lanes) const {
    const V weighted = lanes.Load(g + i) * weight.Of(i, lanes);
    return {weighted, weighted * normal.Of(i, lanes)};
  }
  Lanes<GradientSums> At(int64_t i) const { return Of(i, WholeLanes()); }
  /// Lanes without an element add 0, also where rstd is infinite.
  Lanes<GradientSums> Tail(int64_t i, int64_t n) const {
    const Lanes<GradientSums> terms = Of(i, TailLanes{n});
    double gradients[kLanes], products[kLanes];
    terms.gradients.Store(gradients);
    terms.products.Store(products);
    return {V::LoadTail(gradients, n, 0), V::LoadTail(products, n, 0)};
  }
  const Normal normal;
  const Weights weight;
  const float* g;
};

GradientSums SumsOf(const Row& row, const float* g, int64_t n) {
  const auto sums = [&](auto weight) {
    const GradientTerms<decltype(weight)> terms{Normal(row), weight, g};
    return Fold<GradientSums, Plus>(terms, n, GradientSums{0, 0});
  };
  return row.one_weight ? sums(OfAll(row.weight)) : sums(OfEach(row.weight));
}

template <class Weights>
void GradientBy(const Row& row, const float* g, double shift, double slope, int64_t n,
                bool once_more, float* dx) {
  const Normal normal(row);
  const Weights weight(row.weight);
  const auto result = [=](int64_t i, auto lanes) __attribute__((always_inline)) {
    const V weighted = lanes.Load(g + i) * weight.Of(i, lanes);
    return (weighted - shift - normal.Of(i, lanes) * slope) * normal.rstd;
  };
  once_more ? ForRow<true>(n, dx, result) : ForRow<false>(n, dx, result);
}

void Gradient(const Row& row, const float* g, double shift, double slope, int64_t n, bool once_more,
              float* dx) {
  if (row.one_weight) return GradientBy<OfAll>(row, g, shift, slope, n, once_more, dx);
  GradientBy<OfEach>(row, g, shift, slope, n, once_more, dx);
}

template <int kRows>
void AddRows(const Row* rows, const float* const* given, int64_t n, double* weights,
             double* biases) {
  const float *x[kRows], *g[kRows];
  double mean[kRows], rstd[kRows];
  for (int r = 0; r < kRows; ++r) {
    x[r] = rows[r].x;
    g[r] = given[r];
    mean[r] = rows[r].mean;
    rstd[r] = rows[r].rstd;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    double weight = weights[i], bias = biases[i];
    for (int r = 0; r < kRows; ++r) {
      const double own = g[r][i];
      weight += own * ((x[r][i] - mean[r]) * rstd[r]);
      bias += own;
    }
    weights[i] = weight;
    biases[i] = bias;
  }
}

void Add(const Row* rows, const float* const* g, int64_t count, int64_t n, double* weights,
         double* biases) {
  for (; count >= kNormalRows; count -= kNormalRows, rows += kNormalRows, g += kNormalRows) {
    AddRows<kNormalRows>(rows, g, n, weights, biases);
  }
  for (; count > 0; --count) AddRows<1>(rows++, g++, n, weights, biases);
}

}  // namespace

extern const NormalKernels kNormalKernels = {
    Normalize,
    SumsOf,
    Gradient,
    Add,
};

}  // namespace openaclnn::OPENACLNN_TARGET
