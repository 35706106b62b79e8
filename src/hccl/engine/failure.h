// SPDX-License-Identifier: Apache-2.0
// Failure: a status that there is memory for, whatever its words.
#pragma once

#include <exception>

#include "common/status.h"

namespace openaclnn {

/// The code with `words()`, or with words that need no memory where there is none for those.
template <class Words>
Status Worded(int code, Words&& words) noexcept {
  try {
    return Status(code, words());
  } catch (const std::exception&) {
    return Status(code, "out of memory");
  }
}

inline Status CopyOf(const Status& failure) noexcept {
  return Worded(failure.code(), [&] { return failure.text(); });
}

}  // namespace openaclnn
