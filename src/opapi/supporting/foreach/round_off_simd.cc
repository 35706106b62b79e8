// SPDX-License-Identifier: Apache-2.0
// ForeachRoundOffNumber: numbers rounded as a mode says.
#include <cmath>

#include "supporting/formula-inl.h"

namespace openaclnn::supporting::OPENACLNN_TARGET {
namespace {

/// The one of both neighbours that is odd, where a number is no integer.
template <class T>
T ToOdd(T a) {
  const T below = std::floor(a);
  if (below == a) return a;
  return std::fmod(below, T{2}) != 0 ? below : below + 1;
}

template <class T>
T RoundOff(T a, T mode) {
  switch (static_cast<int>(mode)) {
    case 1:
      return std::rint(a);
    case 2:
      return std::floor(a);
    case 3:
      return std::ceil(a);
    case 4:
      return std::round(a);
    case 5:
      return std::trunc(a);
    case 6:
      return ToOdd(a);
    default:
      return a - std::trunc(a);
  }
}

}  // namespace

namespace expressions {

const Expression kRoundOff = formula::Real<1, [](auto a, auto s) { return RoundOff(a, s[0]); }>();

}  // namespace expressions

}  // namespace openaclnn::supporting::OPENACLNN_TARGET
