// SPDX-License-Identifier: Apache-2.0
// NormFold: norms of any order.
#pragma once

#include <cmath>

#include "supporting/reduce/row_reduction.h"

namespace openaclnn::supporting {

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
      sum.Add(p == 1 ? size : p == 2 ? size * size : p == 0 ? size != 0 : std::pow(size, p));
    }
  }
  double Result(int64_t, size_t) {
    if (std::isinf(p)) return extreme;
    const double total = sum.Total();
    return p == 1 || p == 0 ? total : p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
  }

  double p;
  TreeSum<double> sum{};
  double extreme = 0;
  bool any = false;
};

/// The norms of places.self, to the output at places.begin.
inline Plan MakeNorm(const Params& p, const FoldPlaces& places, const Layout& layout,
                     double order) {
  if (order != 2) return MakeFold<double>(p, places, layout, NormFold(order));
  const auto root = [](double total, int64_t) { return std::sqrt(total); };
  const RowFold<double>& squares = OPENACLNN_TARGET_SELECT(kDoubleRowKernels)->squares;
  return MakeRowReduction<double>(p, places, layout, {&squares, root});
}

}  // namespace openaclnn::supporting
