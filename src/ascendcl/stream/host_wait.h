// SPDX-License-Identifier: Apache-2.0
// Host wait: a wait without a deadline, and whether it ends only when the waiting thread goes on.
#pragma once

#include <cstdint>

#include "ascendcl/process/host_call.h"
#include "ascendcl/stream/stream.h"

namespace openaclnn {

/// Whether streams may wait for the calling thread: it runs functions of the host or serves
/// callbacks.
bool MayBeAwaited();

/// A wait of the calling thread until a stream has done `target` tasks. Of threads that streams may
/// be waiting for in turn, since they run functions of the host or serve callbacks, it is known to
/// other waits while it lives; for all other threads it costs next to nothing.
class HostWait {
 public:
  /// The object that the call is about to end, so that the call does not wait for callbacks there
  /// that nobody has taken. It is a context, or by force a stream, which then waits for no event
  /// either.
  struct Ending {
    const Stream* forced = nullptr;
    const void* context = nullptr;
  };

  HostWait(const Stream& stream, uint64_t target) : HostWait(stream, target, Ending()) {}
  HostWait(const Stream& stream, uint64_t target, Ending ending);
  HostWait(const HostWait&) = delete;
  ~HostWait();

  /// 207006 when the stream waits, by whatever events and other threads' waits, for a function that
  /// the calling thread is in or would have to run; and in what a running task has called.
  Status Refuse() const;

 private:
  bool RunsFor(const Stream& stream) const;

  const Stream& stream_;
  const uint64_t target_;
  const Ending ending_;
  const HostCall* const calls_;
  const uint64_t thread_;
  bool known_ = false;
  HostWait* next_ = nullptr;  // a link of the list of those that are known, under its lock
};

/// Waits without a deadline until the stream has done `target` tasks; 207006 where that could not
/// end.
Status Await(Stream& stream, uint64_t target);

}  // namespace openaclnn
