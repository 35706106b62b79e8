// SPDX-License-Identifier: Apache-2.0
// NormFold: norms of any order.
#pragma once

#include <cmath>

#include "supporting/reduce/fold.h"

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

}  // namespace openaclnn::supporting
