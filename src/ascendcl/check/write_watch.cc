// SPDX-License-Identifier: Apache-2.0
// Write watch: the process's unwritten bytes behind their lock.
#include "ascendcl/check/write_watch.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

#include "ascendcl/check/race_watch.h"
#include "ascendcl/check/unwritten.h"

namespace openaclnn {
namespace {

/// The lock is held while nothing else is called.
struct Watch {
  std::mutex mutex;
  UnwrittenBytes bytes;  // guarded by it
};

// Never destroyed, and made without an allocation: the first call may be one that must not fail.
Watch& All() {
  alignas(Watch) static std::byte place[sizeof(Watch)];
  static Watch* const watch = new (place) Watch;
  return *watch;
}

/// Runs the body under the lock. A check must not fail what it checks: where memory is short, all
/// memory of now counts as written.
template <class Body>
void Tell(Body&& body) noexcept {
  std::lock_guard lock(All().mutex);
  try {
    body(All().bytes);
  } catch (...) {
    All().bytes.ForgetAll();
  }
}

ByteRange RangeOf(const void* address, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  return {begin, begin + bytes};
}

/// Whether not one byte of what is read was ever written.
bool Unwritten(const MemoryAccess& access, const UnwrittenBytes& bytes) {
  if (access.reading == Reading::kMaybe) return false;
  if (access.runs.empty()) return bytes.Contains(access.span);
  return std::all_of(access.runs.begin(), access.runs.end(),
                     [&](const ByteRange& run) { return bytes.Contains(run); });
}

void Enter(const MemoryAccess& access, bool spoils, UnwrittenBytes* bytes) {
  for (const ByteRange& run : access.runs) spoils ? bytes->Spoil(run) : bytes->Write(run);
  if (access.runs.empty()) bytes->Write(access.span);
}

}  // namespace

void TellAllocated(const void* address, uint64_t bytes) noexcept {
  Tell([&](UnwrittenBytes& all) { all.Allocate(RangeOf(address, bytes)); });
}

void TellFreed(const void* address, uint64_t bytes) noexcept {
  Tell([&](UnwrittenBytes& all) { all.Free(RangeOf(address, bytes)); });
}

std::vector<const MemoryAccess*> TellReads(const std::vector<MemoryAccess>& accesses) noexcept {
  // A function of the host that has not returned may write anything, by calls that are yet to come.
  const bool settled = !HostFunctionsPend();
  std::vector<const MemoryAccess*> found;
  Tell([&](UnwrittenBytes& all) {
    if (all.size() == 0) return;
    bool spoils = false;
    for (const MemoryAccess& access : accesses) {
      if (!settled || !Unwritten(access, all)) continue;
      if (access.reading == Reading::kMoves) spoils = true;
      if (access.reading == Reading::kSurely) found.push_back(&access);
    }
    for (const MemoryAccess& access : accesses) {
      if (access.writes) Enter(access, spoils, &all);
    }
    // What comes of it is not told again.
    for (const MemoryAccess* access : found) Enter(*access, false, &all);
  });
  return found;
}

void ForgetUnwritten() noexcept {
  Tell([](UnwrittenBytes& all) { all.ForgetAll(); });
}

}  // namespace openaclnn
