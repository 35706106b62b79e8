// SPDX-License-Identifier: Apache-2.0
// Which numbers of a type random numbers of an interval may be.
#pragma once

#include <cstdint>

namespace openaclnn::supporting {

/// Binary digits of a type of reals: in so many steps they fill the unit interval.
int UnitDigits(int32_t dtype);

/// The greatest finite number of a type of reals.
double LargestOf(int32_t dtype);

/// The first and the last number of a type that are in [from, to). Rounding a number that is
/// between them does not leave the interval.
template <class T>
struct Interval {
  T first, last;
  bool empty() const { return first > last; }
};

/// The interval in a type of reals. If it has no number there, both are `from`.
Interval<double> RealsIn(int32_t dtype, double from, double to);

/// Integers of a type of reals, or of any integers, whose range holds `from` and to - 1.
Interval<int64_t> IntegersIn(int32_t dtype, int64_t from, int64_t to);

/// The least and the greatest int64_t that a type's range holds.
Interval<int64_t> RangeOfIntegers(int32_t dtype);

/// A type holds all integers from 0 to this one.
int64_t LastOfAllIntegers(int32_t dtype);

}  // namespace openaclnn::supporting
