// SPDX-License-Identifier: Apache-2.0
// Workers: the threads that run streams, and the blocks of work that one task shares among them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ascendcl/stream/sleepers.h"
#include "common/status.h"
#include "common/thread.h"

namespace openaclnn {

/// Bounded busy waiting before a thread sleeps: waking a sleeping thread costs several
/// microseconds, many tasks less than one.
class SpinWait {
 public:
  /// False once it is time to sleep.
  bool Again();

 private:
  int round_ = 0;
};

/// Work that workers run in an order of its own, and that one thread at a time claims.
class Claimable {
 public:
  virtual ~Claimable() = default;
  virtual bool TryClaim() = 0;
  /// Runs tasks of what was claimed until `target` are done, `max_tasks` were run, none is left or
  /// one parks; then gives the claim back.
  virtual void RunClaimed(uint64_t target, int max_tasks) = 0;

 private:
  // A link of the list of what is ready, which so needs no memory; under the workers' lock.
  friend class ReadyList;
  std::shared_ptr<Claimable> next_ready_;
  bool listed_ = false;
};

/// Work that became ready, in its order, each piece at most once. To add one cannot fail.
class ReadyList {
 public:
  bool empty() const { return first_ == nullptr; }
  /// False when the stream is listed already.
  bool Push(std::shared_ptr<Claimable> stream) noexcept;
  std::shared_ptr<Claimable> Pop() noexcept;

 private:
  std::shared_ptr<Claimable> first_;
  Claimable* last_ = nullptr;
};

class Workers {
 public:
  using Body = void (*)(void* state, uint64_t block);

  static Workers& Get();

  /// Sets how many threads may compute at once, helping callers included. Ends the threads that
  /// run with another number.
  void Configure(uint32_t num_threads);

  /// Starts the threads if there are none: who polls, or waits with a deadline, runs no work
  /// itself. 207005 when not even one can be had.
  Status Start();

  /// Ends the threads; what is still queued stays queued. The next Schedule starts them anew.
  void Stop();

  /// The stream has tasks to run and nobody has claimed it.
  void Schedule(std::shared_ptr<Claimable> stream) noexcept;

  /// Runs body(state, 0 … blocks - 1), each once, on the calling thread and on idle workers. To be
  /// called from within a task. Needs no memory; a body must not throw. For work that is long
  /// workers are woken that sleep on other processors than the caller's, which costs more.
  void ParallelFor(uint64_t blocks, bool is_long, Body body, void* state);

  /// The right of a thread that is not a worker to compute, given back on destruction.
  class Permit {
   public:
    explicit Permit(Workers* workers) : workers_(workers) {}
    Permit(Permit&& other) noexcept : workers_(std::exchange(other.workers_, nullptr)) {}
    ~Permit();
    explicit operator bool() const { return workers_ != nullptr; }

   private:
    Workers* workers_;
  };
  Permit TryEnter();

  /// Runs blocks of some task, if there are any; needs a permit.
  bool HelpJob();

  /// Whether there may be something to help with. A hint, read without the lock.
  bool pending() const { return pending_.load(std::memory_order_relaxed) != 0; }

 private:
  struct Job {
    Body body;
    void* state;
    uint64_t blocks;
    std::atomic<uint64_t> next{0};
    std::atomic<uint32_t> joined{0};
    Job* after = nullptr;  // a link of the list of jobs
  };

  Workers() = default;

  Status StartLocked();
  void EndThreads();
  void DropIdle();
  void Main(Sleeper& place);
  bool RunOne(std::unique_lock<std::mutex>& lock);
  static void RunBlocks(Job& job);
  Job* FindJobLocked() const;
  /// The link that holds the job; null: the last one, which holds none.
  Job** LinkLocked(const Job* job);
  bool HasWorkLocked() const;
  void Wake(std::unique_lock<std::mutex>& lock, uint64_t count, Where where);

  std::mutex mutex_;  // guards what follows
  Sleepers sleepers_;
  std::vector<std::unique_ptr<Sleeper>> places_;  // one for each thread, and for those that ended
  std::vector<Thread> threads_;
  ReadyList ready_;
  Job* jobs_ = nullptr;  // in their order
  uint32_t num_threads_ = 1;
  uint32_t permits_ = 1;
  bool stopping_ = false;
  bool wanted_ = false;  // threads are to be started once those that stop are gone

  std::atomic<uint32_t> pending_{0};  // ready streams and jobs
};

}  // namespace openaclnn
