// SPDX-License-Identifier: Apache-2.0
// Access: what a task touches, declared to libascendcl.so while it looks for races.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ascendcl/check/interface.h"

namespace openaclnn {

extern const uint32_t* const kWatchingRaces;

inline bool RacesAreWatched() { return __atomic_load_n(kWatchingRaces, __ATOMIC_RELAXED) != 0; }

/// Declares what the calling thread submits in this scope; null: that it is not known.
class DeclaredAccesses {
 public:
  explicit DeclaredAccesses(std::optional<std::vector<OpenaclnnAccess>> accesses)
      : accesses_(std::move(accesses)) {
    if (!accesses_ || !accesses_->empty()) Declare();
  }
  DeclaredAccesses(const DeclaredAccesses&) = delete;
  ~DeclaredAccesses() {
    if (!accesses_ || !accesses_->empty()) Undeclare();
  }

 private:
  void Declare() const;
  static void Undeclare();

  const std::optional<std::vector<OpenaclnnAccess>> accesses_;
};

}  // namespace openaclnn
