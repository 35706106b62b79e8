// SPDX-License-Identifier: Apache-2.0
// The folder of a captured call: call.json, and the memory of its tensors.
#pragma once

#include "openaclnn_capture/call.h"

namespace openaclnn::capture {

/// The result of each step; a step that was not reached has none.
struct Outcomes {
  Outcome phase_1;
  std::optional<Outcome> phase_2, synchronize;
};

/// Writes a folder of its own below OPENACLNN_CAPTURE, named by `number` and the operator. Throws
/// std::runtime_error when that fails; nothing unfinished keeps the name.
void Store(const Call& call, const std::vector<Memory>& memory, const Outcomes& outcomes,
           uint64_t number);

}  // namespace openaclnn::capture
