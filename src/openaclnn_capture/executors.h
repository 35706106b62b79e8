// SPDX-License-Identifier: Apache-2.0
// The calls that wait with their executors for phase 2.
#pragma once

#include <optional>

#include "openaclnn_capture/call.h"

namespace openaclnn::capture {

void Keep(const aclOpExecutor* executor, Call call);

/// The call that `executor` runs next; it stays known if the executor is repeatable.
std::optional<Call> Take(const aclOpExecutor* executor);

}  // namespace openaclnn::capture
