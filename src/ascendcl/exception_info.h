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
  bool running;  // the calling thread has the right to compute, and is no thread of the program's
};

/// Calls the function of aclrtSetExceptionInfoCallback, if there is one, on the thread that has run
/// the task. What the function throws is dropped: the task's own error stays; so is what it chooses
/// for the thread, its floating-point environment, signals and cancellation.
void TellOfFailure(const FailedTask& task) noexcept;

}  // namespace openaclnn
