// SPDX-License-Identifier: Apache-2.0
// Exception info: the program's function that is told of each task that fails.
#pragma once

#include <cstdint>

namespace openaclnn {

class Stream;

/// A task that has failed.
struct FailedTask {
  const Stream* stream;
  uint64_t stream_number;
  uint32_t device;
  uint64_t number;  // in its stream, from 1
  int code;
  bool running;  // the calling thread is in the midst of its stream's work
};

/// Calls the function of aclrtSetExceptionInfoCallback, if there is one, on the thread that has run
/// the task. What the function throws is dropped: the task's own error stays. What it chooses for
/// the thread (floating-point environment, signals, cancellation) is undone.
void TellOfFailure(const FailedTask& task) noexcept;

}  // namespace openaclnn
