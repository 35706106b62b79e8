// SPDX-License-Identifier: Apache-2.0
// Race watch: the calls by which the runtime informs the process's race detector
// (OPENACLNN_CHECK=full).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ascendcl/watch/race.h"

namespace openaclnn {

extern uint32_t g_watching_races;

/// Whether races are watched. Without OPENACLNN_CHECK=full this is all that a launch costs.
inline bool WatchingRaces() { return __atomic_load_n(&g_watching_races, __ATOMIC_RELAXED) != 0; }

void WatchRaces(bool watch);

/// A point of a stream that other streams may wait for. It is null while races are not watched;
/// functions that take a null point do nothing.
using StreamPoint = std::shared_ptr<const RaceDetector::Point>;

StreamPoint MakePoint(StreamNumber stream) noexcept;
inline StreamPoint PointOf(StreamNumber stream) noexcept {
  return WatchingRaces() ? MakePoint(stream) : nullptr;
}
/// The point that comes after both.
StreamPoint Joined(const StreamPoint& a, const StreamPoint& b) noexcept;
/// Orders the stream's later tasks after the point.
void AwaitPoint(StreamNumber stream, const StreamPoint& point) noexcept;
/// Records that the host knows that the point was reached.
void PassPoint(const StreamPoint& point) noexcept;

// The following functions are called only while races are watched.

/// Records a task before it is enqueued, or (stream 0) an access by the host itself. Returns its
/// races with earlier accesses.
std::vector<Race> TellAccesses(const Caller& caller,
                               const std::vector<MemoryAccess>& accesses) noexcept;
/// Removes a stream whose tasks are done.
void TellStreamEnd(StreamNumber stream) noexcept;
/// Forgets the touches of memory that is new, or that was freed.
void ForgetTouches(const void* address, uint64_t bytes) noexcept;

/// Forgets all touches.
void ForgetAllTouches() noexcept;

/// Whether a stream waits for a host function that has not returned.
bool HostFunctionsPend() noexcept;

/// The place of a host function in its stream's order. It comes after all that was launched on the
/// stream before it. If the stream waits for it, it comes before all that is launched there later.
class HostFunctionPoint {
 public:
  HostFunctionPoint(StreamNumber stream, bool blocking) noexcept;
  HostFunctionPoint(const HostFunctionPoint&) = delete;
  ~HostFunctionPoint() { End(); }

  void Begin() const noexcept { PassPoint(before_); }
  /// Records that the function has returned, or will never run.
  void End() noexcept;

 private:
  StreamPoint before_;
  uint64_t gate_ = 0;
};

}  // namespace openaclnn
