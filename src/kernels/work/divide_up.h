// SPDX-License-Identifier: Apache-2.0
// DivideUp: how many parts there are of so many things.
#pragma once

#include <cstdint>

namespace openaclnn {

/// Parts of `length` (from 1) that hold `count` things (from 0), the last one filled or not. The
/// usual (count + length - 1) / length overflows where an expanded tensor has nearly 2^63 elements.
constexpr int64_t DivideUp(int64_t count, int64_t length) {
  return count / length + (count % length != 0 ? 1 : 0);
}

}  // namespace openaclnn
