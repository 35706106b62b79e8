// SPDX-License-Identifier: Apache-2.0
// Write watch: the process's unwritten bytes behind their lock.
#include "ascendcl/watch/write_watch.h"

#include <algorithm>

#include "ascendcl/watch/behind_lock.h"
#include "ascendcl/watch/race_watch.h"
#include "ascendcl/watch/unwritten.h"

namespace openaclnn {
namespace {

/// Where memory is short all memory of now counts as written.
template <class Body>
void Tell(Body&& body) noexcept {
  BehindLock<UnwrittenBytes>::Tell(body);
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

void TellWritten(const void* address, uint64_t bytes) noexcept {
  Tell([&](UnwrittenBytes& all) { all.Write(RangeOf(address, bytes)); });
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
    // The operands count as written now, so that later reads of them are not reported again.
    for (const MemoryAccess* access : found) Enter(*access, false, &all);
  });
  return found;
}

void ForgetUnwritten() noexcept {
  Tell([](UnwrittenBytes& all) { all.ForgetAll(); });
}

}  // namespace openaclnn
