// SPDX-License-Identifier: Apache-2.0
// Race watch: the process's race detector behind its lock.
#include "ascendcl/watch/race_watch.h"

#include <utility>

#include "ascendcl/watch/behind_lock.h"

namespace openaclnn {

uint32_t g_watching_races = 0;

namespace {

/// The lock is taken last.
template <class Body>
void Tell(Body&& body) noexcept {
  BehindLock<RaceDetector>::Tell(body);
}

}  // namespace

void WatchRaces(bool watch) {
  __atomic_store_n(&g_watching_races, watch ? 1U : 0U, __ATOMIC_RELAXED);
}

StreamPoint MakePoint(StreamNumber stream) noexcept {
  StreamPoint point;
  Tell([&](RaceDetector& detector) {
    point = std::make_shared<const RaceDetector::Point>(detector.Mark(stream));
  });
  return point;
}

StreamPoint Joined(const StreamPoint& a, const StreamPoint& b) noexcept {
  if (a == nullptr || b == nullptr) return a != nullptr ? a : b;
  StreamPoint joined;
  Tell([&](const RaceDetector& detector) {
    joined = std::make_shared<const RaceDetector::Point>(detector.Joined(*a, *b));
  });
  return joined;
}

void AwaitPoint(StreamNumber stream, const StreamPoint& point) noexcept {
  if (point == nullptr) return;
  Tell([&](RaceDetector& detector) { detector.Await(stream, *point); });
}

void PassPoint(const StreamPoint& point) noexcept {
  if (point == nullptr) return;
  Tell([&](RaceDetector& detector) { detector.PassHost(*point); });
}

std::vector<Race> TellAccesses(const Caller& caller,
                               const std::vector<MemoryAccess>& accesses) noexcept {
  std::vector<Race> races;
  Tell([&](RaceDetector& detector) {
    races = caller.stream == 0 ? detector.TouchByHost(caller, accesses)
                               : detector.Launch(caller, accesses);
  });
  return races;
}

void TellStreamEnd(StreamNumber stream) noexcept {
  Tell([&](RaceDetector& detector) { detector.End(stream); });
}

void ForgetTouches(const void* address, uint64_t bytes) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  Tell([&](RaceDetector& detector) { detector.Forget({begin, begin + bytes}); });
}

void ForgetAllTouches() noexcept {
  Tell([](RaceDetector& detector) { detector.ForgetAll(); });
}

bool HostFunctionsPend() noexcept {
  bool pend = false;
  Tell([&](const RaceDetector& detector) { pend = detector.AnyGate(); });
  return pend;
}

HostFunctionPoint::HostFunctionPoint(StreamNumber stream, bool blocking) noexcept
    : before_(PointOf(stream)) {
  if (before_ == nullptr || !blocking) return;
  Tell([&](RaceDetector& detector) { gate_ = detector.OpenGate(stream); });
}

void HostFunctionPoint::End() noexcept {
  if (gate_ == 0) return;
  Tell([&](RaceDetector& detector) { detector.CloseGate(std::exchange(gate_, 0)); });
}

}  // namespace openaclnn
