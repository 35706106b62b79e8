// SPDX-License-Identifier: Apache-2.0
// The checks of the libascendcl.so that a library above it was loaded with: what tasks touch is
// declared to them while races are looked for.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ascendcl/check/interface.h"

namespace openaclnn {

/// Never null: with a libascendcl.so of another version nothing is watched.
const OpenaclnnCheck& Check();

extern const uint32_t* const kWatchingRaces;

inline bool RacesAreWatched() { return __atomic_load_n(kWatchingRaces, __ATOMIC_RELAXED) != 0; }

/// The accesses of a task to each operand; null if they are unknown, because memory for them was
/// short.
using Accesses = std::optional<std::vector<OpenaclnnAccess>>;

/// Declares what the calling thread submits in this scope.
class DeclaredAccesses {
 public:
  explicit DeclaredAccesses(Accesses accesses) : accesses_(std::move(accesses)) {
    if (!accesses_ || !accesses_->empty()) Declare();
  }
  DeclaredAccesses(const DeclaredAccesses&) = delete;
  ~DeclaredAccesses() {
    if (!accesses_ || !accesses_->empty()) Undeclare();
  }

 private:
  void Declare() const;
  static void Undeclare();

  const Accesses accesses_;
};

}  // namespace openaclnn
