// SPDX-License-Identifier: Apache-2.0
// Views of the same elements by other steps, copied.
#pragma once

#include "supporting/family.h"

namespace openaclnn::supporting {

/// The bytes from one element to the next along each dimension.
Shape StepsOf(const Operand& self);

/// out = the elements `offset` bytes behind self's first, by these steps in bytes.
Plan MakeCopy(const Tensor& self, const Tensor& out, Shape steps, int64_t offset);

}  // namespace openaclnn::supporting
