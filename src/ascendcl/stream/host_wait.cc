// SPDX-License-Identifier: Apache-2.0
// Host wait: follows what a stream waits for, from task to stream to thread.
#include "ascendcl/stream/host_wait.h"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "ascendcl/stream/subscriptions.h"

namespace openaclnn {
namespace {

/// A stream's task that has to be done.
struct Goal {
  std::shared_ptr<const Stream> stream;
  uint64_t task;
};

void Add(std::vector<Goal>* goals, std::shared_ptr<const Stream> stream, uint64_t task) {
  const bool known = std::any_of(goals->begin(), goals->end(), [&](const Goal& goal) {
    return goal.stream == stream && goal.task >= task;
  });
  if (!known) goals->push_back({std::move(stream), task});
}

/// The threads that have to run callbacks.
std::vector<uint64_t> Servers(const std::vector<Task::Awaited>& awaited) {
  std::vector<uint64_t> threads;
  for (const Task::Awaited& each : awaited) {
    const std::shared_ptr<Stream> served = each.called != nullptr ? each.stream.lock() : nullptr;
    const uint64_t thread = served != nullptr ? Subscriptions::Get().ThreadOf(served.get()) : 0;
    if (thread != 0) threads.push_back(thread);
  }
  return threads;
}

bool Contains(const std::vector<uint64_t>& threads, uint64_t thread) {
  return std::find(threads.begin(), threads.end(), thread) != threads.end();
}

std::mutex g_mutex;  // guards what follows
HostWait* g_first = nullptr;

}  // namespace

bool MayBeAwaited() {
  return HostCall::innermost() != nullptr || Subscriptions::Get().Serves(pthread_self());
}

HostWait::HostWait(const Stream& stream, uint64_t target, Ending ending)
    : stream_(stream),
      target_(target),
      ending_(ending),
      calls_(HostCall::innermost()),
      thread_(pthread_self()) {
  if (stream.completed() >= target) return;
  known_ = MayBeAwaited();
  if (!known_) return;
  std::lock_guard lock(g_mutex);
  next_ = g_first;
  g_first = this;
}

HostWait::~HostWait() {
  if (!known_) return;
  std::lock_guard lock(g_mutex);
  HostWait** link = &g_first;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

bool HostWait::RunsFor(const Stream& stream) const {
  const HostCall* call = calls_;
  while (call != nullptr && call->stream() != &stream) call = call->outer();
  return call != nullptr;
}

// Each thread looks after it has made its own wait known, so of those that would wait in a circle
// the last one sees all others. Tasks that are queued do not change what they wait for; a host
// function that has not begun is looked at when it waits itself.
Status HostWait::Refuse() const {
  if (!known_) return {};
  if (HostCall::InTask()) return RefuseInHostCall(true);
  std::lock_guard lock(g_mutex);
  std::vector<Goal> goals;
  Add(&goals, stream_.shared_from_this(), target_);
  for (size_t i = 0; i < goals.size(); ++i) {
    const Goal goal = goals[i];
    if (goal.stream->completed() >= goal.task) continue;
    if (RunsFor(*goal.stream)) return RefuseInHostCall(true);
    std::vector<Task::Awaited> awaited;
    if (goal.stream.get() != ending_.forced) goal.stream->AddAwaited(goal.task, &awaited);
    const bool ends = ending_.context != nullptr && goal.stream->context() == ending_.context;
    const std::vector<uint64_t> servers = ends ? std::vector<uint64_t>() : Servers(awaited);
    if (Contains(servers, thread_)) {
      return Status(ACL_ERROR_RT_NO_PERMISSION,
                    "calling thread serves a callback that the call waits for, expected "
                    "aclrtProcessReport before");
    }
    for (const HostWait* other = g_first; other != nullptr; other = other->next_) {
      if (other == this) continue;
      if (!other->RunsFor(*goal.stream) && !Contains(servers, other->thread_)) continue;
      Add(&goals, other->stream_.shared_from_this(), other->target_);
    }
    for (const Task::Awaited& each : awaited) {
      if (each.called != nullptr) continue;
      if (auto stream = each.stream.lock()) Add(&goals, std::move(stream), each.task);
    }
  }
  return {};
}

Status Await(Stream& stream, uint64_t target) {
  const HostWait wait(stream, target);
  Status status = wait.Refuse();
  if (status.ok()) stream.Wait(target, {});
  return status;
}

}  // namespace openaclnn
