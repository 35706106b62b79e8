// SPDX-License-Identifier: Apache-2.0
// All operators of the library.
#pragma once

#include <span>

#include "frame/support.h"

namespace openaclnn {

std::span<const Operator* const> Operators();

}  // namespace openaclnn
