// SPDX-License-Identifier: Apache-2.0
// The two phases of an operator's call, with what they returned.
#pragma once

#include <cstdint>
#include <utility>

#include "aclnn/acl_meta.h"
#include "tests/support/device.h"

namespace openaclnn::test {

using Phase2 = aclnnStatus (*)(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);

/// What phase 1 gave. Owns the executor.
class Planned {
 public:
  /// get_workspace_size(uint64_t*, aclOpExecutor**) is the call of phase 1.
  template <class GetWorkspaceSize>
  static Planned Plan(GetWorkspaceSize&& get_workspace_size) {
    Planned planned;
    planned.outcome_ =
        TakeOutcome(get_workspace_size(&planned.workspace_size_, &planned.executor_));
    return planned;
  }

  Planned(Planned&& other) noexcept
      : outcome_(std::move(other.outcome_)),
        workspace_size_(other.workspace_size_),
        executor_(std::exchange(other.executor_, Untouched())) {}
  ~Planned();

  const Outcome& outcome() const { return outcome_; }
  uint64_t workspace_size() const { return workspace_size_; }
  aclOpExecutor* executor() const { return executor_; }
  /// Whether phase 1 left both of its outputs as they were.
  bool untouched() const { return workspace_size_ == kUntouchedSize && executor_ == Untouched(); }

 private:
  static constexpr uint64_t kUntouchedSize = 0xDEADBEEF;
  static aclOpExecutor* Untouched() { return reinterpret_cast<aclOpExecutor*>(uintptr_t{0x77}); }

  Planned() = default;

  Outcome outcome_;
  uint64_t workspace_size_ = kUntouchedSize;
  aclOpExecutor* executor_ = Untouched();
};

/// Phase 2 in a workspace of exactly the size that phase 1 said, then synchronise. Bytes of the
/// workspace hold garbage before; writes past its end are code -1.
Outcome Execute(const Device& device, const Planned& planned, Phase2 phase2);

}  // namespace openaclnn::test
