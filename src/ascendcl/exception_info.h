// SPDX-License-Identifier: Apache-2.0
// Exception info: the program's function that is told of each task that fails.
#pragma once

#include <cstdint>

#include "common/status.h"

namespace openaclnn {

class Stream;

/// Calls the function of aclrtSetExceptionInfoCallback, if there is one, on the thread that has run
/// the stream's task of that number. What the function throws is dropped: the task's own error
/// stays.
void TellOfFailure(const Stream& stream, uint64_t task, const Status& status) noexcept;

}  // namespace openaclnn
