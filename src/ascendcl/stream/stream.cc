// SPDX-License-Identifier: Apache-2.0
// Stream: enqueue, run in order, wait.
#include "ascendcl/stream/stream.h"

#include <algorithm>
#include <limits>

#include "ascendcl/process/float_environment.h"
#include "ascendcl/report/error.h"
#include "ascendcl/report/error_table.h"
#include "ascendcl/report/exception_info.h"
#include "ascendcl/report/log.h"
#include "ascendcl/report/report.h"
#include "ascendcl/stream/value_wait.h"
#include "ascendcl/stream/workers.h"
#include "ascendcl/watch/race_watch.h"
#include "common/stack.h"

namespace openaclnn {
namespace {

/// Tells the trace of a task that ends now. Without memory for words there is no event.
void Trace(const Task& task, int64_t start, int code, TraceRow* row) noexcept try {
  row->Record({task.name(), task.only_waits(), task.trace_arguments()}, start, code);
} catch (const std::exception&) {
  return;
}

}  // namespace

uint64_t Stream::NextNumber() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

Stream::~Stream() {
  if (WatchingRaces()) TellStreamEnd(number_);
}

void Stream::RefuseClosedLocked() const {
  if (last_ == UINT64_MAX) [[likely]]
    return;
  throw StatusException(InvalidHandle("stream", kNoun, Found::kStale, handle_));
}

// The last `count` entries of the queue are new. Returns the number of the last.
[[gnu::always_inline]] inline uint64_t Stream::Announce(std::unique_lock<std::mutex>& lock,
                                                        uint64_t count) {
  const uint64_t number = submitted() + count;
  submitted_.store(number, std::memory_order_release);
  if (state_ != State::kIdle) return number;
  state_ = State::kReady;
  lock.unlock();
  Workers::Get().Schedule(shared_from_this());
  return number;
}

uint64_t Stream::Enqueue(std::unique_ptr<Task>&& task) {
  const Task::Awaited* const awaited = task->awaited();
  std::unique_lock lock(mutex_);
  RefuseClosedLocked();
  queue_.emplace_back(std::move(task), awaited);
  return Announce(lock, 1);
}

uint64_t Stream::Enqueue(std::vector<std::unique_ptr<Task>>&& tasks) {
  std::unique_lock lock(mutex_);
  RefuseClosedLocked();
  size_t added = 0;
  try {
    for (; added < tasks.size(); ++added) {
      const Task::Awaited* const awaited = tasks[added]->awaited();
      queue_.emplace_back(std::move(tasks[added]), awaited);
    }
  } catch (...) {
    for (; added > 0; --added) queue_.pop_back();
    throw;
  }
  return Announce(lock, added);
}

Status Stream::TakeError(TaskFinding* found) {
  if (!kept_.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(mutex_);
  kept_.store(false, std::memory_order_relaxed);
  if (found->line.empty()) std::swap(*found, finding_);
  finding_.line.clear();
  return std::exchange(error_, Status());
}

Status Stream::TakeError() {
  TaskFinding found;
  Status status = TakeError(&found);
  if (status.ok()) TellAgain(found);
  return status;
}

void Stream::Fail(Status status) {
  std::lock_guard lock(mutex_);
  KeepError(std::move(status));
}

void Stream::LogError() noexcept {
  TaskFinding found;  // which the log has
  const Status status = TakeError(&found);
  if (status.ok()) return;
  LogFailure(status.code(),
             {FindError(status.code()).prefix, ": ", status.api_or("task"), ": ", status.text(),
              " (its stream is gone, and no synchronise has returned it)"});
}

// Under the lock.
void Stream::KeepError(Status status) {
  if (status.ok() || !error_.ok()) return;
  error_ = std::move(status);
  kept_.store(true, std::memory_order_release);
}

// Under the lock.
void Stream::KeepFinding(TaskFinding&& finding) {
  if (!finding_.line.empty()) return;
  finding_ = std::move(finding);
  kept_.store(true, std::memory_order_release);
}

void Stream::set_stop_on_failure(bool stop) {
  std::lock_guard lock(mutex_);
  stop_on_failure_ = stop;
}

std::shared_ptr<const Allocator> Stream::allocator() const {
  std::lock_guard lock(mutex_);
  return allocator_;
}

void Stream::set_allocator(std::shared_ptr<const Allocator> allocator) {
  std::lock_guard lock(mutex_);
  allocator_.swap(allocator);
}

void Stream::DropQueued() {
  {
    std::lock_guard lock(mutex_);
    dropped_ = submitted();
  }
  Wake();  // the first task may be one that only waits
}

void Stream::Close() {
  std::unique_lock lock(mutex_);
  const uint64_t last = last_ = submitted();
  lock.unlock();
  const StreamPoint point = PointOf(number_);
  if (!HelpUntil(last)) SleepTelling(last);
  PassPoint(point);
}

bool Stream::closed() const {
  std::lock_guard lock(mutex_);
  return last_ != UINT64_MAX;
}

void Stream::Wake() {
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kRunning) woken_ = true;
    if (state_ != State::kParked) return;
    state_ = State::kReady;
  }
  Workers::Get().Schedule(shared_from_this());
}

bool Stream::TryClaim() {
  std::lock_guard lock(mutex_);
  if (state_ != State::kReady) return false;
  state_ = State::kRunning;
  return true;
}

// Chooses, executes and retires the first task. The lock is released while the task runs.
Stream::Outcome Stream::RunFirst(std::unique_lock<std::mutex>& lock) {
  Queued& first = queue_.front();  // adding others does not move it
  const Way way = WayOf(*first.task);
  if (!std::exchange(begun_, true)) traced_from_ = TraceStart();
  woken_ = false;
  lock.unlock();
  TaskFinding finding;
  const RunningTaskScope running(first.task->name(), &finding);
  Ended ended = Execute(*first.task, way);
  // A thread that sees the task completed may count on its memory being unpinned.
  if (ended.done && first.awaited == nullptr) first.task.reset();
  lock.lock();
  if (!ended.done) {
    if (!finding.line.empty()) KeepFinding(std::move(finding));
    return woken_ ? Outcome::kAgain : Outcome::kParked;
  }
  if (first.awaited != nullptr) {
    first.awaited = nullptr;  // other threads read it, under the lock
    lock.unlock();
    first.task.reset();
    lock.lock();
  }
  begun_ = false;
  KeepError(std::move(ended.status));
  if (!finding.line.empty()) [[unlikely]]
    KeepFinding(std::move(finding));
  queue_.pop_front();
  return Outcome::kDone;
}

Stream::Way Stream::WayOf(const Task& task) const {
  const bool is_dropped = completed() < dropped_ || completed() >= last_;
  if (is_dropped && (!begun_ || task.only_waits())) return Way::kDrop;
  return stop_on_failure_ && !error_.ok() && task.skipped_after_error() ? Way::kSkip : Way::kRun;
}

// An exception of a task is its error: the stream goes on.
Stream::Ended Stream::Execute(Task& task, Way way) {
  Ended ended = {.done = true, .status = {}};
  Status thrown = Guard([&] {
    if (way == Way::kDrop) task.Drop();
    if (way == Way::kRun) ended.done = task.Run(&ended.status) == Task::Progress::kDone;
    return Status();
  });
  if (!thrown.ok()) ended = {.done = true, .status = std::move(thrown)};
  if (!ended.done) return ended;
  NoteWritten();  // a parked task does not: the note would wake its own stream
  if (!ended.status.ok()) [[unlikely]] {
    TellOfFailure({this, number_, device_id_, completed() + 1, ended.status.code(), true});
  }
  if (traced_from_ != 0 && way == Way::kRun) [[unlikely]] {
    Trace(task, traced_from_, ended.status.code(), &trace_row_);
  }
  return ended;
}

void Stream::RunClaimed(uint64_t target, int max_tasks) {
  std::unique_lock lock(mutex_);
  RunLocked(lock, target, max_tasks);
}

void Stream::RunLocked(std::unique_lock<std::mutex>& lock, uint64_t target, int max_tasks) {
  const FloatEnvironment environment;
  while (!queue_.empty() && completed() < target && max_tasks-- > 0) {
    const Outcome outcome = RunFirst(lock);
    if (outcome == Outcome::kParked) {
      state_ = State::kParked;
      return;
    }
    if (outcome == Outcome::kAgain) continue;
    completed_.store(completed() + 1, std::memory_order_release);
    if (num_waiting_ > 0) progress_.notify_all();
  }
  state_ = queue_.empty() ? State::kIdle : State::kReady;
  if (state_ == State::kIdle) return;
  lock.unlock();
  Workers::Get().Schedule(shared_from_this());
}

// One attempt of a synchronising thread to bring the stream forward: run its tasks, else lend a
// hand to a task that is split into blocks.
bool Stream::Help(uint64_t target) {
  Workers& workers = Workers::Get();
  if (!workers.pending()) return false;
  Workers::Permit permit = workers.TryEnter();
  if (!permit) return false;
  std::unique_lock lock(mutex_);
  if (state_ == State::kReady) {
    state_ = State::kRunning;
    RunLocked(lock, target, std::numeric_limits<int>::max());
    return true;
  }
  lock.unlock();
  return workers.HelpJob();
}

bool Stream::Wait(uint64_t target, const Deadline& deadline) {
  const StreamPoint point = PointOf(number_);
  const bool done = WaitUntold(target, deadline);
  if (done) PassPoint(point);
  return done;
}

namespace {

/// Counts a thread while it lives, under the lock of the count; a cancelled one ends in between.
class Waiting {
 public:
  explicit Waiting(int* count) : count_(count) { ++*count_; }
  Waiting(const Waiting&) = delete;
  ~Waiting() { --*count_; }

 private:
  int* const count_;
};

}  // namespace

namespace {

/// Whether the calling thread has the stack that tasks need. Who has less leaves them to the
/// workers, if there are any: without one they would never be run.
bool MayHelp() { return HasStack(kTaskStack) || !Workers::Get().Start().ok(); }

}  // namespace

bool Stream::WaitUntold(uint64_t target, const Deadline& deadline) {
  return (deadline ? completed() >= target : HelpUntil(target)) || Sleep(target, deadline);
}

// Runs tasks as long as there are any to run, and returns whether all are done.
bool Stream::HelpUntil(uint64_t target) {
  if (MayHelp()) {
    SpinWait spin;
    while (completed() < target) {
      if (!Help(target) && !spin.Again()) break;
    }
  }
  return completed() >= target;
}

// Waits for other threads. False: the time ran out.
bool Stream::Sleep(uint64_t target, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const Waiting counted(&num_waiting_);
  const auto reached = [&] { return completed() >= target; };
  const Cancellable here;
  if (deadline) return progress_.wait_until(lock, *deadline, reached);
  progress_.wait(lock, reached);
  return true;
}

void Stream::AddAwaited(uint64_t target, std::vector<Task::Awaited>* found) const {
  std::lock_guard lock(mutex_);
  uint64_t number = completed();
  for (const Queued& queued : queue_) {
    if (++number > std::min(target, last_)) return;
    if (queued.awaited == nullptr || number <= dropped_) continue;
    const auto& called = queued.awaited->called;
    if (called == nullptr || !called->load(std::memory_order_acquire)) {
      found->push_back(*queued.awaited);
    }
  }
}

Status ParseTimeout(int32_t milliseconds, Stream::Deadline* deadline) {
  if (milliseconds < -1) {
    return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("timeout value is ", milliseconds,
                                                     ", expected -1 (for ever) or milliseconds"));
  }
  if (milliseconds >= 0) {
    *deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  }
  return {};
}

Status TimeoutExpired(const char* what, int32_t milliseconds) {
  return Status(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                Concat(what, " is not done after ", milliseconds, " ms, expected it to be"));
}

}  // namespace openaclnn
