// SPDX-License-Identifier: Apache-2.0
// Access: what a task touches, declared to libascendcl.so while it looks for races.
#pragma once

#include <utility>
#include <vector>

#include "ascendcl/check/interface.h"

namespace openaclnn {

extern const uint32_t* const kWatchingRaces;

inline bool RacesAreWatched() { return __atomic_load_n(kWatchingRaces, __ATOMIC_RELAXED) != 0; }

/// Declares what the calling thread submits in this scope.
class DeclaredAccesses {
 public:
  explicit DeclaredAccesses(std::vector<OpenaclnnAccess> accesses)
      : accesses_(std::move(accesses)) {
    if (!accesses_.empty()) Declare(accesses_);
  }
  DeclaredAccesses(const DeclaredAccesses&) = delete;
  ~DeclaredAccesses() {
    if (!accesses_.empty()) Declare({});
  }

 private:
  static void Declare(const std::vector<OpenaclnnAccess>& accesses);

  const std::vector<OpenaclnnAccess> accesses_;
};

}  // namespace openaclnn
