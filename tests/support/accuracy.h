// SPDX-License-Identifier: Apache-2.0
// How far a result may be from the float64 reference.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "acl/acl_base.h"

namespace openaclnn::test {

/// Sums as a reference gives them: values, sums of the terms' magnitudes, numbers of terms.
struct ReferenceSums {
  std::vector<double> value;
  std::vector<double> magnitude;
  std::vector<int64_t> terms;
};

/// (8 + min(n, 64) + log2 n) * 2^-24 * sum|terms| + 2^-126: met by sums of at most 64 terms in
/// sequence per accumulator followed by a binary tree, and not by longer runs.
double Bound(int64_t terms, double magnitude);

/// FLOAT: |got - reference| <= bound. FLOAT16, BFLOAT16: between the roundings of reference -+
/// bound. NaN and infinities must agree.
bool IsWithin(aclDataType dtype, double got, double reference, double bound);

/// Every element, with the first miss in words.
testing::AssertionResult AreWithin(aclDataType dtype, const std::vector<double>& got,
                                   const ReferenceSums& sums);

/// The vendor's own standard, for reports: e = |got - reference| / (|reference| + 1e-7).
struct RelativeErrors {
  double mean = 0;
  double max = 0;
};
RelativeErrors Errors(const std::vector<double>& got, const std::vector<double>& reference);
/// T of the standard mean < T, max < 10 T.
double Threshold(aclDataType dtype);

}  // namespace openaclnn::test
