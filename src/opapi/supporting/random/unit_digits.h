// SPDX-License-Identifier: Apache-2.0
// In how many steps random numbers of a type fill the unit interval.
#pragma once

#include <cstdint>

#include "ascendcl/data_type.h"

namespace openaclnn::supporting {

/// Digits that the type has, so that nothing is rounded up to the end.
inline int UnitDigits(int32_t dtype) {
  return dtype == ACL_DOUBLE ? 53 : dtype == ACL_FLOAT ? 24 : dtype == ACL_FLOAT16 ? 11 : 8;
}

}  // namespace openaclnn::supporting
