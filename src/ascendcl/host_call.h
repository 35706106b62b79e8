// SPDX-License-Identifier: Apache-2.0
// Host call: which stream stands still while this thread runs a function of the host for it.
#pragma once

#include <utility>

#include "acl/acl.h"
#include "common/status.h"

namespace openaclnn {

class Stream;

/// Lives while the thread runs a function that the stream (null: none) waits for.
class HostCall {
 public:
  explicit HostCall(const Stream* stream) : before_(std::exchange(t_stream, stream)) {}
  HostCall(const HostCall&) = delete;
  ~HostCall() { t_stream = before_; }

  /// The stream that waits for this thread, or null.
  static const Stream* stream() { return t_stream; }

 private:
  static inline thread_local const Stream* t_stream = nullptr;
  const Stream* const before_;
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
