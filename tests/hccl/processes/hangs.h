// SPDX-License-Identifier: Apache-2.0
// What hang_test.cc and the roles of its processes tell each other.
#pragma once

namespace openaclnn::ranks {

/// Exit codes of a rank whose stream has failed as it is documented.
inline constexpr int kTimedOut = 3;  // ACL_ERROR_RT_TASK_TIMEOUT
inline constexpr int kLost = 4;      // ACL_ERROR_RT_SUSPECT_REMOTE_ERROR

/// The file that ends the rounds, and whoever was told of a failure and waits.
inline constexpr const char* kEnoughFile = "enough";

}  // namespace openaclnn::ranks
