// SPDX-License-Identifier: Apache-2.0
// Race watch: what the runtime tells the process's race detector (OPENACLNN_CHECK=full).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ascendcl/watch/race.h"

namespace openaclnn {

extern uint32_t g_watching_races;

/// Whether there is anybody to tell: all that a launch costs without OPENACLNN_CHECK=full.
inline bool WatchingRaces() { return __atomic_load_n(&g_watching_races, __ATOMIC_RELAXED) != 0; }

void WatchRaces(bool watch);

/// A point of a stream that others may wait for; null while nothing is watched, and all that takes
/// one then does nothing.
using StreamPoint = std::shared_ptr<const RaceDetector::Point>;

StreamPoint MakePoint(StreamNumber stream) noexcept;
inline StreamPoint PointOf(StreamNumber stream) noexcept {
  return WatchingRaces() ? MakePoint(stream) : nullptr;
}
/// The point that comes after both.
StreamPoint Joined(const StreamPoint& a, const StreamPoint& b) noexcept;
/// The stream's later tasks come after the point.
void AwaitPoint(StreamNumber stream, const StreamPoint& point) noexcept;
/// The host knows that the point was reached.
void PassPoint(const StreamPoint& point) noexcept;

// The following functions are called only while races are watched.

/// A task is about to be enqueued, or (stream 0) the host about to touch memory itself. Returns its
/// races with what was told before.
std::vector<Race> TellAccesses(const Caller& caller,
                               const std::vector<MemoryAccess>& accesses) noexcept;
/// The stream is gone, its tasks done.
void TellStreamEnd(StreamNumber stream) noexcept;
/// The memory is new, or nobody's.
void ForgetTouches(const void* address, uint64_t bytes) noexcept;

/// All memory is as if nobody had touched it.
void ForgetAllTouches() noexcept;

/// Whether there is a function of the host for which its stream waits and that has not returned.
bool HostFunctionsPend() noexcept;

/// A function of the host that a stream runs: it comes after what was launched on the stream
/// before it and, if the stream waits for it, before what is launched there later.
class HostFunctionPoint {
 public:
  HostFunctionPoint(StreamNumber stream, bool blocking) noexcept;
  HostFunctionPoint(const HostFunctionPoint&) = delete;
  ~HostFunctionPoint() { End(); }

  void Begin() const noexcept { PassPoint(before_); }
  /// It has returned, or never runs.
  void End() noexcept;

 private:
  StreamPoint before_;
  uint64_t gate_ = 0;
};

}  // namespace openaclnn
