// SPDX-License-Identifier: Apache-2.0
// Workspace use: the list of the workspaces in use, as long as there are threads that compute.
#include "nnopbase/workspace_use.h"

#include <mutex>

#include "nnopbase/access.h"

namespace openaclnn {
namespace {

std::mutex g_mutex;
WorkspaceUse* g_first = nullptr;  // guarded by it

}  // namespace

WorkspaceUse::WorkspaceUse(const char* api, const void* workspace, uint64_t bytes) noexcept
    : api_(api),
      begin_(reinterpret_cast<uintptr_t>(workspace)),
      end_(reinterpret_cast<uintptr_t>(workspace) + bytes) {
  const char* const other = Enter();
  if (other != nullptr) [[unlikely]]
    Check().tell_shared_workspace(api, other, workspace, bytes);
}

const char* WorkspaceUse::Enter() noexcept {
  const char* other = nullptr;
  const std::lock_guard lock(g_mutex);
  next_ = g_first;
  if (next_ != nullptr) next_->previous_ = this;
  g_first = this;
  for (const WorkspaceUse* each = next_; each != nullptr; each = each->next_) {
    if (each->begin_ < end_ && begin_ < each->end_) other = each->api_;
  }
  return other;
}

WorkspaceUse::~WorkspaceUse() {
  const std::lock_guard lock(g_mutex);
  (previous_ != nullptr ? previous_->next_ : g_first) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

}  // namespace openaclnn
