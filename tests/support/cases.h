// SPDX-License-Identifier: Apache-2.0
// Groups of the named shapes in a room's cases.inc, and random values to fill them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "acl/acl_base.h"
#include "tests/support/layout.h"

namespace openaclnn::test {

/// smoke: a few plain ones; edge: sizes where loops begin, end or change; real: what models have,
/// small enough for a test; perf: what benches time.
enum Group { kSmoke, kEdge, kReal, kPerf };

enum Values {
  kNormal,    // normally distributed
  kWide,      // exponents from -20 to 4
  kEqual,     // all 0.1: errors of a running sum all point one way
  kOpposite,  // nearly cancelling neighbours
};

inline std::vector<double> RandomValues(Random& random, int64_t count, Values kind) {
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = kind == kEqual ? 0.1 : normal(random);
    const double scale = kind == kWide ? std::exp2(Uniform(random, -20, 4)) : 1;
    values[i] = kind == kOpposite && i % 2 == 1 ? -values[i - 1] * 1.001 : value * scale;
  }
  return values;
}

/// Rows that an index type can name, up to this.
inline int64_t LargestRow(aclDataType dtype) {
  switch (dtype) {
    case ACL_BOOL:
      return 1;
    case ACL_INT8:
      return INT8_MAX;
    case ACL_UINT8:
      return UINT8_MAX;
    case ACL_INT16:
      return INT16_MAX;
    case ACL_FLOAT16:
      return 2048;
    default:
      return int64_t{1} << 24;
  }
}

/// How row numbers are drawn from [0, rows).
enum Rows { kUniformRows, kZipfRows, kAscendingRows };

inline std::vector<int64_t> RandomRows(Random& random, int64_t count, int64_t rows, Rows kind) {
  std::uniform_real_distribution<double> uniform;
  std::vector<int64_t> result(static_cast<size_t>(count));
  for (size_t i = 0; i < result.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    // By the inverse of the continuous distribution 1/x on [1, rows + 1).
    const auto rank =
        static_cast<int64_t>(std::pow(static_cast<double>(rows + 1), uniform(random))) - 1;
    result[i] = kind == kAscendingRows ? number % rows
                : kind == kZipfRows    ? std::min(rank, rows - 1)
                                       : Uniform(random, 0, rows - 1);
  }
  return result;
}

}  // namespace openaclnn::test
