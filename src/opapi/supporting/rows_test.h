// SPDX-License-Identifier: Apache-2.0
// A tensor and its rows along one dimension, for the tests of what works along one.
#pragma once

#include <vector>

#include "supporting/family_test.h"

namespace openaclnn::test {

/// (outer, n, inner) and its 15 rows of n.
struct RowsProblem {
  explicit RowsProblem(aclDataType of, Random& random, int64_t n = 70)
      : dtype(of), self(Make(of, {3, n, 5}, RealValues(random, 15 * n), random)), length(n) {
    const Doubles values = ValuesOf(self);
    for (int64_t row = 0; row < 15; ++row) {
      Doubles one;
      for (int64_t i = 0; i < n; ++i) {
        one.push_back(values[static_cast<size_t>(row / 5 * n * 5 + i * 5 + row % 5)]);
      }
      rows.push_back(one);
    }
  }

  template <class Function>
  Doubles Each(const Function& function) const {
    Doubles results;
    for (const Doubles& row : rows) results.push_back(function(row));
    return results;
  }

  aclDataType dtype;
  DeviceTensor self;
  int64_t length;
  std::vector<Doubles> rows;
};

}  // namespace openaclnn::test
