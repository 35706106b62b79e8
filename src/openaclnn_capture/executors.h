// SPDX-License-Identifier: Apache-2.0
// The calls that wait with their executors for phase 2.
#pragma once

#include <optional>

#include "openaclnn_capture/call.h"

namespace openaclnn::capture {

void Keep(const aclOpExecutor* executor, Call call);

/// The call that `executor` runs next.
std::optional<Call> Find(const aclOpExecutor* executor);

/// The executor has run: it is forgotten if it is not repeatable.
void Spend(const aclOpExecutor* executor) noexcept;

/// The handle is a new executor's, or none any more.
void Forget(const aclOpExecutor* executor) noexcept;

}  // namespace openaclnn::capture
