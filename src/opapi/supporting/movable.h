// SPDX-License-Identifier: Apache-2.0
// The types of elements that operators move.
#pragma once

#include "kernels/number.h"

namespace openaclnn::supporting {

/// Numbers, and what is moved between equal types alone.
inline constexpr DtypeSet kMovableTypes =
    kNumericTypes | Dtypes(ACL_UINT64, ACL_COMPLEX64, ACL_COMPLEX128);

}  // namespace openaclnn::supporting
