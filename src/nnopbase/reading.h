// SPDX-License-Identifier: Apache-2.0
// Reading: which operands an operator reads whatever its other arguments are.
#pragma once

#include <string_view>

#include "ascendcl/check/interface.h"

namespace openaclnn {

/// `output`: whether the operand is one. Of a call whose tensors all have elements.
OpenaclnnReading ReadingOf(std::string_view api, std::string_view operand, bool output);

}  // namespace openaclnn
