// SPDX-License-Identifier: Apache-2.0
// Access: what a task touches, declared to libascendcl.so while it looks for races, and what it was
// refused.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ascendcl/check/interface.h"
#include "common/status.h"
#include "nnopbase/operand.h"

namespace openaclnn {

/// That of the libascendcl.so that this library was loaded with; never null.
const OpenaclnnCheck& Check();

extern const uint32_t* const kWatchingRaces;
extern const uint32_t* const kWatchingWorkspaces;

inline bool RacesAreWatched() { return __atomic_load_n(kWatchingRaces, __ATOMIC_RELAXED) != 0; }
inline bool WorkspacesAreWatched() {
  return __atomic_load_n(kWatchingWorkspaces, __ATOMIC_RELAXED) != 0;
}

/// What a call touches: operands with elements, and the workspace, which counts as written. Null
/// without memory for it.
std::optional<std::vector<OpenaclnnAccess>> AccessesOf(std::span<const BoundOperand> operands,
                                                       const void* workspace,
                                                       uint64_t workspace_size) noexcept;

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

/// Tells that `api` is refused for bytes that are no device memory, or are not its own to use.
void TellRefused(const char* api, const Status& failure, const void* address, uint64_t bytes);

}  // namespace openaclnn
