// SPDX-License-Identifier: Apache-2.0
// Scales that numbers give themselves.
#include "supporting/dynamic_scale.h"

#include "supporting/along.h"
#include "supporting/axis_numbers.h"

namespace openaclnn::supporting {
namespace {

/// As FLOAT has it. In a call of its own: where two doubles of a struct are rounded side by side,
/// GCC 12 makes a vector of them and then drops both conversions, {(double)(float)a,
/// (double)(float)b} being {a, b} from -O2 on.
[[gnu::noinline]] double Rounded(double value) { return static_cast<float>(value); }

double Larger(double a, double b) { return Less(a, b) ? b : a; }

/// NaN counts as the smallest.
double Smaller(double a, double b) { return IsNan(a) || a < b ? a : b; }

}  // namespace

Extremes Extremes::Of(const double* x, int64_t n) {
  if (n == 0) return {};
  return {DoubleRows().smallest.row(x, n), DoubleRows().largest.row(x, n)};
}

void Extremes::Join(const Extremes& other, bool any) {
  low = any ? Smaller(low, other.low) : other.low;
  high = any ? Larger(high, other.high) : other.high;
}

DynamicScale DynamicScale::Symmetric(const Extremes& of, double high) {
  return {Rounded(Larger(std::fabs(of.low), std::fabs(of.high)) / high), 0};
}

double DynamicScale::Inverse(const Extremes& of, double high) {
  return Rounded(high / Larger(std::fabs(of.low), std::fabs(of.high)));
}

DynamicScale DynamicScale::Shifted(const Extremes& of, double low, double high) {
  const double scale = Rounded((of.high - of.low) / (high - low));
  return {scale, Rounded(high - of.high / scale)};
}

void DynamicScale::Apply(double* x, int64_t n) const {
  DoubleRows().divide(x, scale, n);
  if (offset != 0) DoubleRows().move(x, 1, offset, n);
}

}  // namespace openaclnn::supporting
