// SPDX-License-Identifier: Apache-2.0
// Meanings of `reduction` for the elements of a loss, by the numbers of the API.
#pragma once

namespace openaclnn::supporting {

enum Reduction { kNone, kMean, kSum };

}  // namespace openaclnn::supporting
