// SPDX-License-Identifier: Apache-2.0
// Race report: what a program is told of its races, as of all mistakes (report.h).
#pragma once

#include <string>
#include <vector>

#include "ascendcl/watch/race_watch.h"
#include "ascendcl/watch/write_watch.h"

namespace openaclnn {

/// "the host", "the default stream", "stream 0x…".
std::string StreamText(const Caller& caller);

/// Tells the race watch of a call, before it takes effect, and reports what it finds.
void WatchAccesses(const Caller& caller, const std::vector<MemoryAccess>& accesses) noexcept;

/// Tells it of memory that the host is about to free, and reports what it finds: aclrtFree and
/// aclrtFreeHost wait for no task, so that a device would give the memory to others at once.
void WatchFree(const char* api, const char* operand, const void* address, uint64_t bytes) noexcept;

/// Reports what was found.
void ReportRaces(const std::vector<Race>& races) noexcept;

/// Tells it, while races are watched, what `accesses` gives. A check must not fail what it
/// checks: without memory for the accesses nothing is told.
template <class Accesses>
void TellIfWatched(const Caller& caller, const Accesses& accesses) noexcept {
  if (!WatchingRaces()) return;
  try {
    WatchAccesses(caller, accesses());
  } catch (...) {  // as said
    ForgetUnwritten();
  }
}

/// A task that is about to be launched, told so: another thread may wait for it as soon as it is.
class ToldLaunch {
 public:
  template <class Accesses>
  ToldLaunch(const Caller& caller, const Accesses& accesses) noexcept : pending_(WatchingRaces()) {
    TellIfWatched(caller, accesses);
  }
  ToldLaunch(const ToldLaunch&) = delete;
  /// Where it was not launched after all, what it would have touched is not known any more.
  ~ToldLaunch() {
    if (pending_) ForgetAllTouches();
  }
  void Done() { pending_ = false; }

 private:
  bool pending_;
};

}  // namespace openaclnn
