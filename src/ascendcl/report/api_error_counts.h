// SPDX-License-Identifier: Apache-2.0
// Counts of API errors: how often each code was returned.
#pragma once

#include <string>

#include "ascendcl/report/error_table.h"

namespace openaclnn {

/// Without a lock: a child of fork counts too.
void CountApiError(const ErrorEntry& row) noexcept;

/// As a JSON object by code, and counts anew; empty where none was counted.
std::string TakeApiErrorCounts();

}  // namespace openaclnn
