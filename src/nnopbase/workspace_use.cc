// SPDX-License-Identifier: Apache-2.0
// Workspace use: the list of the workspaces in use, as long as there are threads that compute.
#include "nnopbase/workspace_use.h"

#include <sched.h>

#include <atomic>

#include "nnopbase/access.h"

namespace openaclnn {
namespace {

/// Held for a few instructions, so that nobody sleeps for it.
class SpinLock {
 public:
  void lock() {
    while (held_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;
};

SpinLock g_lock;
WorkspaceUse* g_first = nullptr;  // guarded by it

}  // namespace

WorkspaceUse::WorkspaceUse(const char* api, const void* workspace, uint64_t bytes) noexcept
    : api_(api),
      begin_(reinterpret_cast<uintptr_t>(workspace)),
      end_(reinterpret_cast<uintptr_t>(workspace) + bytes) {
  const char* other = nullptr;
  g_lock.lock();
  next_ = g_first;
  if (next_ != nullptr) next_->previous_ = this;
  g_first = this;
  for (const WorkspaceUse* each = next_; each != nullptr; each = each->next_) {
    if (each->begin_ < end_ && begin_ < each->end_) other = each->api_;
  }
  g_lock.unlock();
  if (other != nullptr) [[unlikely]]
    Check().tell_shared_workspace(api, other, workspace, bytes);
}

WorkspaceUse::~WorkspaceUse() {
  g_lock.lock();
  (previous_ != nullptr ? previous_->next_ : g_first) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  g_lock.unlock();
}

}  // namespace openaclnn
