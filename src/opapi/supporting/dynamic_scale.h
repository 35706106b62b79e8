// SPDX-License-Identifier: Apache-2.0
// Scales that numbers give themselves, with which the largest becomes the largest whole number.
#pragma once

#include <cmath>
#include <cstdint>

namespace openaclnn::supporting {

/// The smallest and the largest of some numbers. NaN counts as both.
struct Extremes {
  double low = 0, high = 0;

  static Extremes Of(const double* x, int64_t n);
  /// Those of both. `any`: whether there were numbers before.
  void Join(const Extremes& other, bool any);
};

/// Numbers become round(x / scale + offset). Both are numbers of FLOAT.
struct DynamicScale {
  /// The largest magnitude becomes `high`; the offset is 0.
  static DynamicScale Symmetric(const Extremes& of, double high);
  /// The inverse of that scale, as FLOAT has it.
  static double Inverse(const Extremes& of, double high);
  /// The smallest number becomes `low`, the largest `high`.
  static DynamicScale Shifted(const Extremes& of, double low, double high);

  void Apply(double* x, int64_t n) const;

  double scale = 0, offset = 0;
};

}  // namespace openaclnn::supporting
