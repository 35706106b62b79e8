// SPDX-License-Identifier: Apache-2.0
// Numbers made whole, compiled once for each instruction set.
#include "supporting/whole_rows.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

/// Toward zero; the bounds are those of int32_t.
inline double Cut(double x) { return static_cast<double>(static_cast<int32_t>(x)); }

/// To the nearest, ties to even: a double this large has no digits behind the point.
inline double Even(double x) {
  constexpr double kLarge = 0x1.8p52;
  return (x + kLarge) - kLarge;
}

inline double Away(double x) {
  const double whole = Cut(x), rest = x - whole;
  return whole + (rest >= 0.5 ? 1.0 : rest <= -0.5 ? -1.0 : 0.0);
}

inline double Down(double x) {
  const double whole = Cut(x);
  return whole - (whole > x ? 1.0 : 0.0);
}

inline double Up(double x) {
  const double whole = Cut(x);
  return whole + (whole < x ? 1.0 : 0.0);
}

template <double (*kWhole)(double)>
void Run(double* __restrict x, int64_t n, double low, double high) {
  for (int64_t i = 0; i < n; ++i) {
    double value = x[i] == x[i] ? x[i] : 0.0;
    value = value < low ? low : value;
    value = value > high ? high : value;
    x[i] = kWhole(value);
  }
}

}  // namespace

extern const SnapKernels kSnapKernels = {{Run<Even>, Run<Away>, Run<Down>, Run<Up>, Run<Cut>}};

}  // namespace openaclnn::OPENACLNN_TARGET
