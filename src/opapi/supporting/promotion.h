// SPDX-License-Identifier: Apache-2.0
// The type that operands of different types meet in, as the vendor's pages deduce it.
#pragma once

#include <span>

#include "supporting/family.h"

namespace openaclnn::supporting {

/// The type that elements of both are converted to; ACL_DT_UNDEFINED where the pages have none.
/// Both are numeric.
int32_t MetType(int32_t a, int32_t b);

/// The type that elements of `tensors` and a scalar are converted to. It is the tensors' type,
/// unless the scalar's kind of number (truth value, integer, float) is a higher one.
int32_t MetType(int32_t tensors, const Value& scalar);

/// Checks that inputs, given by their places, have one type where one of them has a type that meets
/// no other by the pages. A condition meets nothing.
void CheckMeeting(const Params& p, std::span<const size_t> inputs, Checker& checker);

}  // namespace openaclnn::supporting
