// SPDX-License-Identifier: Apache-2.0
// Which numbers of a type are in an interval: numbers are rounded up or down to so many digits.
#include "supporting/random/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ascendcl/data_type.h"
#include "kernels/number/number.h"

namespace openaclnn::supporting {
namespace {

struct Format {
  int digits;
  int least_exponent;  // of the smallest number above 0, a power of two
  double largest;
};

Format FormatOf(int32_t dtype) {
  switch (dtype) {
    case ACL_DOUBLE:
      return {53, -1074, std::numeric_limits<double>::max()};
    case ACL_FLOAT:
      return {24, -149, static_cast<double>(std::numeric_limits<float>::max())};
    case ACL_FLOAT16:
      return {11, -24, 65504};
    default:  // ACL_BF16
      return {8, -133, 0x1.FEp127};
  }
}

/// The greatest number of the format that is at most a finite value.
double AtMost(const Format& format, double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - format.digits, format.least_exponent);
  return std::ldexp(std::floor(std::ldexp(value, -unit)), unit);
}

double AtLeast(const Format& format, double value) { return -AtMost(format, -value); }

/// A double beside an integer, above it or below; the integer itself if a double holds it.
double Beside(int64_t value, bool above) {
  const auto near = static_cast<double>(value);
  const bool too_high = near >= 0x1p63 || static_cast<int64_t>(near) > value;
  const bool too_low = !too_high && static_cast<int64_t>(near) < value;
  if (above) return too_low ? std::nextafter(near, INFINITY) : near;
  return too_high ? std::nextafter(near, -INFINITY) : near;
}

template <class T>
Interval<int64_t> Ends() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

}  // namespace

int UnitDigits(int32_t dtype) { return FormatOf(dtype).digits; }

double LargestOf(int32_t dtype) { return FormatOf(dtype).largest; }

Interval<double> RealsIn(int32_t dtype, double from, double to) {
  const Format format = FormatOf(dtype);
  const double last = AtMost(format, std::nextafter(to, -INFINITY));
  const Interval<double> inside = {std::max(AtLeast(format, from), -format.largest),
                                   std::min(last, format.largest)};
  return inside.empty() ? Interval<double>{from, from} : inside;
}

Interval<int64_t> IntegersIn(int32_t dtype, int64_t from, int64_t to) {
  if (!Contains(kRealTypes, dtype)) return {from, to - 1};
  const Format format = FormatOf(dtype);
  const double first = AtLeast(format, Beside(from, true));
  const double last = AtMost(format, Beside(to - 1, false));
  if (first > last) return {1, 0};
  return {static_cast<int64_t>(first), static_cast<int64_t>(last)};
}

Interval<int64_t> RangeOfIntegers(int32_t dtype) {
  switch (dtype) {
    case ACL_FLOAT16:
      return {-65504, 65504};
    case ACL_INT8:
      return Ends<int8_t>();
    case ACL_UINT8:
      return Ends<uint8_t>();
    case ACL_INT16:
      return Ends<int16_t>();
    case ACL_UINT16:
      return Ends<uint16_t>();
    case ACL_INT32:
      return Ends<int32_t>();
    case ACL_UINT32:
      return Ends<uint32_t>();
    case ACL_BOOL:
      return {0, 1};
    default:
      return Ends<int64_t>();
  }
}

int64_t LastOfAllIntegers(int32_t dtype) {
  if (Contains(kRealTypes, dtype)) return int64_t{1} << FormatOf(dtype).digits;
  return RangeOfIntegers(dtype).last;
}

}  // namespace openaclnn::supporting
