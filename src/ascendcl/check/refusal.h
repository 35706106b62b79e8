// SPDX-License-Identifier: Apache-2.0
// Refusals that are mistakes with memory: reported, beside the code that the call returns.
#pragma once

#include <cstdint>

#include "common/status.h"

namespace openaclnn {

/// The harm that a refused call would have done.
enum class Misuse {
  kOperand,  // tasks use what is no device memory, was freed, or lies outside of its allocation
  kCopy,     // a copy or a fill does, or touches what is no memory of the process
  kFree,     // what is no allocation is freed, or one again
  kValue,    // an index, or another value that says where, is out of range
};

/// Reports that `api` fails for a misuse of so many bytes from an address; null: not known. The
/// failure is the caller's to return.
void ReportRefusal(Misuse misuse, const char* api, const Status& failure, const void* address,
                   uint64_t bytes) noexcept;

}  // namespace openaclnn
