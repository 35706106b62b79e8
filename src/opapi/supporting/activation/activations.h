// SPDX-License-Identifier: Apache-2.0
// What records of activations call.
#pragma once

namespace openaclnn::supporting {

/// Of an approximation's name.
bool IsTanh(const char* approximation);

}  // namespace openaclnn::supporting
