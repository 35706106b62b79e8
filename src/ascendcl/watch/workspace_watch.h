// SPDX-License-Identifier: Apache-2.0
// Workspace watch: whether libnnopbase is to look for tasks that compute in one workspace at once.
#pragma once

#include <cstdint>

namespace openaclnn {

inline uint32_t g_watching_workspaces = 0;

inline void WatchWorkspaces(bool watch) {
  __atomic_store_n(&g_watching_workspaces, watch ? 1U : 0U, __ATOMIC_RELAXED);
}

}  // namespace openaclnn
