// SPDX-License-Identifier: Apache-2.0
// Passes over the keys of a row that are compiled for each instruction set.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

struct OrderScans {
  /// keys = KeyOf(values), each bit inverted that is set in `inverted`
  void (*keys)(const float* values, int64_t n, uint32_t inverted, uint32_t* keys);
  /// The first i from `begin` on with keys[i] < bound, else n.
  int64_t (*below)(const uint32_t* keys, int64_t begin, int64_t n, uint32_t bound);
};
OPENACLNN_TARGET_DECLARE(extern const OrderScans kOrderScans)

/// Those that fit the machine.
const OrderScans* KeyScans();

}  // namespace openaclnn
