// SPDX-License-Identifier: Apache-2.0
// Workers: one pool for the process; permits keep the number of computing threads.
#include "ascendcl/stream/workers.h"

#include <algorithm>
#include <limits>
#include <thread>

#include "acl/acl.h"
#include "ascendcl/process/float_environment.h"
#include "ascendcl/process/signals.h"
#include "ascendcl/report/error.h"
#include "common/uncancelled.h"

namespace openaclnn {
namespace {

// About 20 us of pauses, then as many yields: see bench/runtime for the cost of sleeping instead.
constexpr int kPauses = 400;
constexpr int kYields = 20;

// Tasks of one stream that a worker runs before it looks at the others.
constexpr int kTasksPerTurn = 16;

void Pause() {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool SpinWait::Again() {
  if (round_ >= kPauses + kYields) return false;
  if (round_++ < kPauses) {
    Pause();
  } else {
    std::this_thread::yield();
  }
  return true;
}

bool ReadyList::Push(std::shared_ptr<Claimable> stream) noexcept {
  if (stream->listed_) return false;
  stream->listed_ = true;
  Claimable* const added = stream.get();
  (empty() ? first_ : last_->next_ready_) = std::move(stream);
  last_ = added;
  return true;
}

std::shared_ptr<Claimable> ReadyList::Pop() noexcept {
  std::shared_ptr<Claimable> stream = std::move(first_);
  first_ = std::move(stream->next_ready_);
  stream->listed_ = false;
  return stream;
}

Workers& Workers::Get() {
  static auto* workers = new Workers;  // threads may outlive static destructors at exit
  return *workers;
}

void Workers::Configure(uint32_t num_threads) {
  {
    std::lock_guard lock(mutex_);
    if (num_threads == num_threads_) return;
    wanted_ = wanted_ || !threads_.empty() || !ready_.empty();
  }
  EndThreads();
  std::lock_guard lock(mutex_);
  num_threads_ = num_threads;
  permits_ = num_threads;
  stopping_ = false;
  if (std::exchange(wanted_, false)) (void)StartLocked();
}

Status Workers::Start() {
  std::lock_guard lock(mutex_);
  return StartLocked();
}

void Workers::Stop() {
  EndThreads();
  DropIdle();
  std::lock_guard lock(mutex_);
  stopping_ = false;
  if (std::exchange(wanted_, false)) (void)StartLocked();
}

// A stream that a synchronise has run stays listed until a worker comes for it, which may never be.
// A stream that has tasks lists itself anew.
void Workers::DropIdle() {
  std::unique_lock lock(mutex_);
  ReadyList listed = std::exchange(ready_, {});
  lock.unlock();
  while (!listed.empty()) {
    const std::shared_ptr<Claimable> stream = listed.Pop();
    pending_.fetch_sub(1, std::memory_order_relaxed);
    if (stream->TryClaim()) stream->RunClaimed(0, 0);
  }
}

// Until stopping_ is reset none is started.
void Workers::EndThreads() {
  std::vector<Thread> threads;
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    sleepers_.Wake(lock, threads.size(), Where::kAnywhere);
  }
  for (Thread& thread : threads) thread.Join();
}

// With fewer threads than asked for the work is still done. Without any, streams that wait for one
// another would stand still, and so would those that nobody synchronises.
Status Workers::StartLocked() {
  if (!threads_.empty()) return {};
  if (stopping_) {
    wanted_ = true;
    return {};
  }
  Status status = Guard([this] {
    const SignalMask inherited(SignalMask::OfRuntime());
    threads_.reserve(num_threads_);
    while (threads_.size() < num_threads_) {
      const size_t index = threads_.size();
      if (index == places_.size()) places_.push_back(std::make_unique<Sleeper>());
      Thread thread;
      if (thread.Start([this, place = places_[index].get()] { Main(*place); }) != 0) {
        return Status(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                      "thread of the runtime cannot be started, expected at least one within the "
                      "limits of the process (ulimit -u, ulimit -v) and of its control group "
                      "(pids.max)");
      }
      threads_.push_back(std::move(thread));
    }
    return Status();
  });
  return threads_.empty() ? status : Status();
}

void Workers::Wake(std::unique_lock<std::mutex>& lock, uint64_t count, Where where) {
  sleepers_.Wake(lock, std::min<uint64_t>(count, permits_), where);
}

void Workers::Schedule(std::shared_ptr<Claimable> stream) noexcept {
  std::unique_lock lock(mutex_);
  if (threads_.empty()) (void)StartLocked();
  if (ready_.Push(std::move(stream))) pending_.fetch_add(1, std::memory_order_relaxed);
  Wake(lock, 1, Where::kAnywhere);
}

Workers::Permit Workers::TryEnter() {
  std::lock_guard lock(mutex_);
  if (permits_ == 0) return Permit(nullptr);
  --permits_;
  return Permit(this);
}

Workers::Permit::~Permit() {
  if (workers_ == nullptr) return;
  std::unique_lock lock(workers_->mutex_);
  ++workers_->permits_;
  if (workers_->HasWorkLocked()) workers_->Wake(lock, 1, Where::kAnywhere);
}

// Blocks are handed out one by one; which thread gets which does not matter to the result.
void Workers::RunBlocks(Job& job) {
  const FloatEnvironment environment;
  uint64_t block = 0;
  while ((block = job.next.fetch_add(1, std::memory_order_relaxed)) < job.blocks) {
    job.body(job.state, block);
  }
}

Workers::Job* Workers::FindJobLocked() const {
  Job* job = jobs_;
  while (job != nullptr && job->next.load(std::memory_order_relaxed) >= job->blocks) {
    job = job->after;
  }
  return job;
}

Workers::Job** Workers::LinkLocked(const Job* job) {
  Job** link = &jobs_;
  while (*link != job) link = &(*link)->after;
  return link;
}

bool Workers::HasWorkLocked() const {
  return permits_ > 0 && (!ready_.empty() || FindJobLocked() != nullptr);
}

bool Workers::HelpJob() {
  std::unique_lock lock(mutex_);
  Job* job = FindJobLocked();
  if (job == nullptr) return false;
  job->joined.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  RunBlocks(*job);
  job->joined.fetch_sub(1, std::memory_order_release);
  return true;
}

void Workers::ParallelFor(uint64_t blocks, bool is_long, Body body, void* state) {
  Job job{.body = body, .state = state, .blocks = blocks};
  std::unique_lock lock(mutex_);
  const bool shared = blocks > 1 && num_threads_ > 1;
  if (shared) {
    *LinkLocked(nullptr) = &job;
    pending_.fetch_add(1, std::memory_order_relaxed);
    Wake(lock, blocks - 1, is_long ? Where::kElsewhere : Where::kAnywhere);
  } else {
    lock.unlock();
  }
  RunBlocks(job);
  if (!shared) return;
  lock.lock();
  *LinkLocked(&job) = job.after;
  pending_.fetch_sub(1, std::memory_order_relaxed);
  lock.unlock();
  // Helpers were counted under the lock, so none can come any more; they are in their last block.
  while (job.joined.load(std::memory_order_acquire) != 0) Pause();
}

// Runs one piece of work with the lock released; false when there is none or no permit.
bool Workers::RunOne(std::unique_lock<std::mutex>& lock) {
  if (permits_ == 0) return false;
  // One look: the owner of a job hands out its last block without the lock.
  Job* job = FindJobLocked();
  if (job == nullptr && ready_.empty()) return false;
  std::shared_ptr<Claimable> stream;
  if (job != nullptr) {
    job->joined.fetch_add(1, std::memory_order_relaxed);
  } else {
    stream = ready_.Pop();
    pending_.fetch_sub(1, std::memory_order_relaxed);
  }
  --permits_;
  lock.unlock();
  if (job != nullptr) {
    RunBlocks(*job);
    job->joined.fetch_sub(1, std::memory_order_release);
  } else if (stream->TryClaim()) {
    stream->RunClaimed(std::numeric_limits<uint64_t>::max(), kTasksPerTurn);
  }
  stream.reset();
  lock.lock();
  ++permits_;
  return true;
}

void Workers::Main(Sleeper& place) {
  const UncancelledCall whole;  // whatever a function of the program's asks for its thread
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (RunOne(lock)) continue;
    lock.unlock();
    SpinWait spin;
    while (!pending() && spin.Again()) {
    }
    lock.lock();
    if (stopping_ || HasWorkLocked()) continue;
    sleepers_.Sleep(lock, place);
  }
}

}  // namespace openaclnn
