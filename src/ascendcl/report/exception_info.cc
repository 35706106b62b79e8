// SPDX-License-Identifier: Apache-2.0
// Exception info: aclrtSetExceptionInfoCallback, and what its function may ask.
#include "ascendcl/report/exception_info.h"

#include <atomic>

#include "acl/acl_rt.h"
#include "ascendcl/process/float_environment.h"
#include "ascendcl/process/host_call.h"
#include "ascendcl/process/signals.h"
#include "ascendcl/report/error.h"

/// Lives on the stack of the thread that calls the program's function.
struct aclrtExceptionInfo {
  uint32_t task_id = 0;
  uint32_t stream_id = 0;
  uint32_t device_id = 0;
  uint32_t code = 0;
};

namespace openaclnn {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

std::atomic<aclrtExceptionInfoCallback> g_callback{nullptr};

}  // namespace

void TellOfFailure(const FailedTask& task) noexcept {
  const aclrtExceptionInfoCallback callback = g_callback.load(std::memory_order_acquire);
  if (callback == nullptr) return;
  aclrtExceptionInfo info{static_cast<uint32_t>(task.number),
                          static_cast<uint32_t>(task.stream_number), task.device,
                          static_cast<uint32_t>(task.code)};
  const HostCall call(task.stream, task.running);
  const Uncancelled whole;  // what has failed is told of in the midst of another's work
  const SignalMask signals(SignalMask::Current());
  const FloatEnvironment environment;
  try {
    const Cancellable nothing;
    callback(&info);
  } catch (...) {  // of any kind: the task's own error is what is told
  }
}

}  // namespace openaclnn

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  return openaclnn::Api("aclrtSetExceptionInfoCallback", [&] {
    openaclnn::g_callback.store(callback, std::memory_order_release);
    return openaclnn::Status();
  });
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return info == nullptr ? openaclnn::kNone : info->task_id;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return info == nullptr ? openaclnn::kNone : info->stream_id;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo*) { return openaclnn::kNone; }

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return info == nullptr ? openaclnn::kNone : info->device_id;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
  return info == nullptr ? openaclnn::kNone : info->code;
}
