// SPDX-License-Identifier: Apache-2.0
// Workspace use: tasks that compute in one workspace at the same time.
#pragma once

#include <cstdint>

namespace openaclnn {

/// The calling thread's task computes in the workspace in this scope. If another one does, too, in
/// any byte of it, that is reported: neither has the numbers that it has left there.
class WorkspaceUse {
 public:
  WorkspaceUse(const char* api, const void* workspace, uint64_t bytes) noexcept;
  WorkspaceUse(const WorkspaceUse&) = delete;
  ~WorkspaceUse();

 private:
  /// Another one that is there already, by its operator, or null.
  const char* Enter() noexcept;

  const char* const api_;
  const uint64_t begin_, end_;
  WorkspaceUse* next_ = nullptr;  // of all that there are
  WorkspaceUse* previous_ = nullptr;
};

}  // namespace openaclnn
