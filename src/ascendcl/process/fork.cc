// SPDX-License-Identifier: Apache-2.0
// Watches for fork, after which a child lacks the runtime's threads and memory.
#include "ascendcl/process/fork.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "ascendcl/process/first_use.h"

namespace openaclnn {
namespace {

std::atomic<bool> g_used{false};
std::atomic<uint32_t> g_entering{0};  // calls in FirstUse, each counted before it takes a lock
std::atomic<bool> g_forked{false};

[[maybe_unused]] const int kForkWatch = pthread_atfork(
    nullptr, nullptr, [] { g_forked.store(g_used || g_entering > 0, std::memory_order_relaxed); });

}  // namespace

void MarkUsed() { g_used.store(true, std::memory_order_relaxed); }

bool Forked() { return g_forked.load(std::memory_order_relaxed); }

FirstUse::FirstUse() { g_entering.fetch_add(1); }

FirstUse::~FirstUse() { g_entering.fetch_sub(1); }

}  // namespace openaclnn
