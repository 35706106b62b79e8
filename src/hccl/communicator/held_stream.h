// SPDX-License-Identifier: Apache-2.0
// Held stream: keeps a stream of the runtime for operations, even if its handle is destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "ascendcl/interface.h"
#include "client/client.h"
#include "common/status.h"
#include "hccl/hccl_types.h"

namespace openaclnn {

class HeldStream {
 public:
  /// Holds the stream of a handle, in the calling thread's context.
  static Status Hold(aclrtStream handle, std::shared_ptr<HeldStream>* stream) {
    OpenaclnnMessage message;
    void* const held = Runtime().hold(handle, &message);
    if (held == nullptr) return Status(HCCL_E_PARA, message.text);
    *stream = std::make_shared<HeldStream>(held);
    return {};
  }
  explicit HeldStream(void* held) : held_(held) {}
  HeldStream(const HeldStream&) = delete;
  ~HeldStream() { Runtime().let_go(held_); }

  /// The stream's number; 0 if it is destroyed or is being captured.
  uint64_t number() const { return Runtime().stream_number(held_); }
  void Wake() const { Runtime().wake(held_); }

  /// Submits the task and takes it over if that succeeds. Does not wait. Returns HCCL_E_PARA if the
  /// stream was destroyed.
  Status Submit(const OpenaclnnTask& task) {
    OpenaclnnMessage message;
    uint64_t number = 0;
    const int code = Runtime().submit_held(held_, &task, &number, &message);
    if (code != 0) {
      const bool destroyed = code == ACL_ERROR_RT_INVALID_HANDLE;
      return Status(destroyed ? HCCL_E_PARA : HCCL_E_RUNTIME, message.text);
    }
    launched_.store(number, std::memory_order_release);
    return {};
  }
  /// Waits for the last task if launches are blocking. The caller must hold no lock.
  void AwaitLaunch() const { Runtime().await_launch(held_, launched()); }

  /// The last task's number on its stream; 0 before there is one.
  uint64_t launched() const { return launched_.load(std::memory_order_acquire); }
  /// Calls the runtime's begin_wait for the last task.
  void* BeginWait(OpenaclnnMessage* message) const {
    return Runtime().begin_wait(held_, launched(), message);
  }

 private:
  void* const held_;
  std::atomic<uint64_t> launched_{0};
};

}  // namespace openaclnn
