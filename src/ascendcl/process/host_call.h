// SPDX-License-Identifier: Apache-2.0
// Host call: which streams stand still while this thread runs functions of the host for them.
#pragma once

#include "acl/acl.h"
#include "common/status.h"

namespace openaclnn {

class Stream;

/// Lives while the thread runs a function that the stream (null: none) waits for. A function that
/// serves callbacks has others inside it.
class HostCall {
 public:
  /// `in_task`: a running task has called the function, whose thread nothing else can have.
  explicit HostCall(const Stream* stream, bool in_task = false)
      : stream_(stream), outer_(t_innermost), in_task_(in_task || InTask()) {
    t_innermost = this;
  }
  HostCall(const HostCall&) = delete;
  ~HostCall() { t_innermost = outer_; }

  const Stream* stream() const { return stream_; }
  const HostCall* outer() const { return outer_; }

  /// The calling thread's, or null.
  static const HostCall* innermost() { return t_innermost; }

  /// Whether the calling thread is in a function that a running task has called.
  static bool InTask() { return t_innermost != nullptr && t_innermost->in_task_; }

  /// Whether any stream waits for the calling thread.
  static bool HoldsStream() {
    const HostCall* call = t_innermost;
    while (call != nullptr && call->stream() == nullptr) call = call->outer();
    return call != nullptr;
  }

 private:
  static inline thread_local const HostCall* t_innermost = nullptr;
  const Stream* const stream_;
  const HostCall* const outer_;
  const bool in_task_;
};

/// Refuses to wait, on a thread that runs a function of the host, for what cannot come before the
/// function returns.
inline Status RefuseInHostCall(bool waits_for_itself) {
  if (!waits_for_itself) return {};
  return Status(ACL_ERROR_RT_NO_PERMISSION,
                "calling thread is in a host function or callback that the call waits for, "
                "expected the call after its return");
}

}  // namespace openaclnn
