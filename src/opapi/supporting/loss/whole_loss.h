// SPDX-License-Identifier: Apache-2.0
// Losses of integers and of complex numbers.
#pragma once

#include "generated/loss.h"

namespace openaclnn::supporting {

/// A loss of one element each where the inputs are integers, computed in 64 bits, or where a tensor
/// is complex, computed in pairs of doubles. Null work where the inputs are floats.
Plan PlanWholeLoss(const LossParams& p);

}  // namespace openaclnn::supporting
