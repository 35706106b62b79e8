// SPDX-License-Identifier: Apache-2.0
// Stream: a queue of tasks that run in order, on whichever thread claims the stream.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ascendcl/process/handles.h"
#include "ascendcl/report/running_task.h"
#include "ascendcl/report/trace.h"
#include "ascendcl/stream/task.h"
#include "ascendcl/stream/workers.h"

namespace openaclnn {

struct Allocator;

class Stream : public Claimable, public std::enable_shared_from_this<Stream> {
 public:
  static constexpr Kind kKind = Kind::kStream;
  static constexpr const char* kNoun = "stream";
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  Stream(const void* context, uint32_t device_id, bool launch_blocking)
      : context_(context),
        device_id_(device_id),
        launch_blocking_(launch_blocking),
        trace_row_(device_id) {}
  Stream(const Stream&) = delete;
  ~Stream() override;

  /// Handle of the context that the stream belongs to.
  const void* context() const { return context_; }
  uint32_t device_id() const { return device_id_; }
  /// The program's handle of the stream; null for a default stream.
  const void* handle() const { return handle_; }
  void set_handle(const void* handle) { handle_ = handle; }  // before anybody else has the stream
  /// The stream as a line of the log names it.
  std::string Name() const;
  /// A number, from 1, that no other stream of the process ever has.
  uint64_t number() const { return number_; }
  /// Whether phase 2 of an operator waits for its task.
  bool launch_blocking() const { return launch_blocking_; }

  /// Appends the task and returns its number, counted from 1. If it throws, the task is still the
  /// caller's and nothing has changed: there is no memory, or the stream is closed (107017), by
  /// another thread since the caller has found it.
  uint64_t Enqueue(std::unique_ptr<Task>&& task);

  /// Appends several tasks, without another thread's between them; returns the number of the last.
  /// If it throws, the stream is unchanged and the tasks are destroyed.
  uint64_t Enqueue(std::vector<std::unique_ptr<Task>>&& tasks);

  /// Whether a capture keeps what is launched here, or forbids it (capture.h).
  bool captured() const { return captured_.load(std::memory_order_acquire); }
  void set_captured(bool captured) { captured_.store(captured, std::memory_order_release); }

  /// The allocator for the own memory of operators by their graph names; null: the device's.
  std::shared_ptr<const Allocator> allocator() const;
  void set_allocator(std::shared_ptr<const Allocator> allocator);

  TraceRow& trace_row() { return trace_row_; }

  uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  uint64_t completed() const { return completed_.load(std::memory_order_acquire); }

  /// Returns once the first `target` tasks are done. Without a deadline the caller runs tasks
  /// itself rather than sleep; with one it only waits, and false means that time ran out.
  bool Wait(uint64_t target, const Deadline& deadline);
  /// As Wait, but does not tell the watch for races: the caller knows better what it waited for.
  bool WaitUntold(uint64_t target, const Deadline& deadline);

  /// The first error since the last call, and forgets it, with what checks have found in tasks
  /// meanwhile: the first is *found, unless another stream's is there.
  Status TakeError(TaskFinding* found);
  /// As above, for a call that synchronises this stream alone: without an error the finding becomes
  /// the thread's message.
  Status TakeError();

  /// Before the stream goes away: an error that no synchronise has returned goes to the log.
  void LogError() noexcept;

  /// Makes it the stream's error, unless there is one already.
  void Fail(Status status);

  void set_stop_on_failure(bool stop);

  /// The last value of aclrtSetStreamOverflowSwitch, kept for aclrtGetStreamOverflowSwitch.
  uint32_t overflow_switch() const { return overflow_switch_.load(std::memory_order_relaxed); }
  void set_overflow_switch(uint32_t flag) {
    overflow_switch_.store(flag, std::memory_order_relaxed);
  }

  /// Drops the tasks that have not begun, or only wait: they are passed over in their turn.
  void DropQueued();

  /// Adds what tasks up to `target` still wait for.
  void AddAwaited(uint64_t target, std::vector<Task::Awaited>* found) const;

  /// Takes no more tasks, and returns once all are done. Where that takes long the log tells what
  /// the stream waits for: another thread may still bring it, so it is not given up.
  void Close();
  bool closed() const;

  /// Lets a parked stream go on: what its first task waited for has come.
  void Wake();

  /// Sets the function that ends the subscription of the thread that serves the stream's callbacks.
  void set_subscription_end(void (*end)(const Stream*)) { end_subscription_.store(end); }
  /// The stream goes away: callbacks that no thread has taken do not run, and none serves it again.
  void EndSubscription() {
    serves_no_more_.store(true);  // first: who subscribes meanwhile sees it, or is ended below
    if (const auto end = end_subscription_.load()) end(this);
  }
  bool serves_no_more() const { return serves_no_more_.load(); }

  // For the workers.
  bool TryClaim() override;
  void RunClaimed(uint64_t target, int max_tasks) override;

 private:
  enum class State { kIdle, kReady, kRunning, kParked };
  /// The first task is done, is to run again because Wake came meanwhile, or waits for Wake.
  enum class Outcome { kDone, kAgain, kParked };
  /// A task runs, is dropped (DropQueued, Close), or is skipped after an error.
  enum class Way { kRun, kDrop, kSkip };
  struct Ended {
    bool done;  // false: the task has parked
    Status status;
  };

  static uint64_t NextNumber();
  struct Queued {
    Queued(std::unique_ptr<Task>&& queued, const Task::Awaited* what)
        : task(std::move(queued)), awaited(what) {}
    std::unique_ptr<Task> task;
    const Task::Awaited* awaited;  // a part of the task, or null
  };

  void RefuseClosedLocked() const;
  uint64_t Announce(std::unique_lock<std::mutex>& lock, uint64_t count);
  bool Help(uint64_t target);
  bool HelpUntil(uint64_t target);
  bool Sleep(uint64_t target, const Deadline& deadline);
  std::string WaitsUntil() const;
  std::string Waits(uint64_t target) const;
  void SleepTelling(uint64_t target);
  void KeepError(Status status);
  void KeepFinding(TaskFinding&& finding);
  Outcome RunFirst(std::unique_lock<std::mutex>& lock);
  Way WayOf(const Task& task) const;
  Ended Execute(Task& task, Way way);
  void RunLocked(std::unique_lock<std::mutex>& lock, uint64_t target, int max_tasks);

  const void* const context_;
  const uint32_t device_id_;
  const bool launch_blocking_;
  const uint64_t number_ = NextNumber();
  const void* handle_ = nullptr;
  std::atomic<bool> captured_{false};
  std::atomic<uint32_t> overflow_switch_{0};

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable progress_;
  std::deque<Queued> queue_;
  State state_ = State::kIdle;
  bool woken_ = false;       // Wake came while the first task was running
  bool begun_ = false;       // the first task has run and parked
  int64_t traced_from_ = 0;  // when it began, if a trace is made
  bool stop_on_failure_ = false;
  std::shared_ptr<const Allocator> allocator_;
  int num_waiting_ = 0;
  std::atomic<uint64_t> submitted_{0};  // as completed_
  uint64_t dropped_ = 0;                // tasks up to this one are passed over
  uint64_t last_ = UINT64_MAX;          // tasks behind this one too
  std::atomic<uint64_t> completed_{0};  // written under the lock, read without
  std::atomic<bool> kept_{false};       // whether there is an error or a finding; as completed_
  Status error_;
  TaskFinding finding_;

  std::atomic<void (*)(const Stream*)> end_subscription_{nullptr};
  std::atomic<bool> serves_no_more_{false};
  TraceRow trace_row_;
};

/// A timeout in milliseconds: -1 waits for ever (no deadline), less is 107000.
Status ParseTimeout(int32_t milliseconds, Stream::Deadline* deadline);
/// `what` is the stream or the event, as a message names it.
Status TimeoutExpired(const char* what, int32_t milliseconds);

}  // namespace openaclnn
