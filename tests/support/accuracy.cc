// SPDX-License-Identifier: Apache-2.0
// The bound on sums, and the vendor's relative errors.
#include "tests/support/accuracy.h"

#include <algorithm>
#include <cmath>

#include "tests/support/numbers.h"

namespace openaclnn::test {

double Bound(int64_t terms, double magnitude) {
  const auto n = static_cast<double>(std::max<int64_t>(terms, 1));
  return (8 + std::min(n, 64.0) + std::log2(n)) * 0x1p-24 * magnitude + 0x1p-126;
}

bool IsWithin(aclDataType dtype, double got, double reference, double bound) {
  if (std::isnan(reference)) return std::isnan(got);
  if (std::isinf(reference)) return got == reference;
  if (dtype == ACL_FLOAT) return std::abs(got - reference) <= bound;
  const BinaryFormat& format = dtype == ACL_FLOAT16 ? kHalf : kBFloat16;
  return Round(format, reference - bound) <= got && got <= Round(format, reference + bound);
}

testing::AssertionResult AreWithin(aclDataType dtype, const std::vector<double>& got,
                                   const ReferenceSums& sums) {
  if (got.size() != sums.value.size()) {
    return testing::AssertionFailure() << got.size() << " elements, not " << sums.value.size();
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const double bound = Bound(sums.terms[i], sums.magnitude[i]);
    if (IsWithin(dtype, got[i], sums.value[i], bound)) continue;
    return testing::AssertionFailure()
           << "element " << i << " is " << got[i] << ", reference " << sums.value[i] << " of "
           << sums.terms[i] << " terms, " << std::abs(got[i] - sums.value[i]) / bound
           << " times the bound off";
  }
  return testing::AssertionSuccess();
}

RelativeErrors Errors(const std::vector<double>& got, const std::vector<double>& reference) {
  RelativeErrors errors;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got[i] - reference[i]) / (std::abs(reference[i]) + 1e-7);
    errors.mean += error / static_cast<double>(got.size());
    errors.max = std::max(errors.max, error);
  }
  return errors;
}

double Threshold(aclDataType dtype) {
  return dtype == ACL_FLOAT ? 0x1p-13 : dtype == ACL_FLOAT16 ? 0x1p-10 : 0x1p-7;
}

}  // namespace openaclnn::test
