// SPDX-License-Identifier: Apache-2.0
// Functions that records of activations call.
#pragma once

#include <string_view>

#include "kernels/simd/target.h"

namespace openaclnn::supporting {

struct Expression;

OPENACLNN_TARGET_DECLARE(namespace expressions { extern const Expression kSoftshrink; })

/// Whether an approximation's name is tanh.
inline bool IsTanh(const char* approximation) {
  return approximation != nullptr && std::string_view(approximation) == "tanh";
}

}  // namespace openaclnn::supporting
