// SPDX-License-Identifier: Apache-2.0
// Event: the tasks that record, await and reset one.
#include "ascendcl/stream/event.h"

#include <utility>

namespace openaclnn {
namespace {

class RecordTask : public Task {
 public:
  RecordTask(std::shared_ptr<Event> event, std::shared_ptr<Event::Mark> mark)
      : event_(std::move(event)), mark_(std::move(mark)) {}
  Progress Run(Status*) override {
    event_->Complete(*mark_);
    return Progress::kDone;
  }
  const char* name() const override { return "record event"; }
  bool skipped_after_error() const override { return false; }
  void Drop() override { event_->Complete(*mark_); }

 private:
  std::shared_ptr<Event> event_;
  std::shared_ptr<Event::Mark> mark_;
};

class ResetTask : public Task {
 public:
  ResetTask(std::shared_ptr<Event> event, std::shared_ptr<const Event::Mark> mark)
      : event_(std::move(event)), mark_(std::move(mark)) {}
  Progress Run(Status*) override {
    event_->Clear(mark_.get());
    return Progress::kDone;
  }
  const char* name() const override { return "reset event"; }
  bool skipped_after_error() const override { return false; }

 private:
  std::shared_ptr<Event> event_;
  std::shared_ptr<const Event::Mark> mark_;
};

class WaitTask : public Task {
 public:
  WaitTask(std::shared_ptr<Event> event, const std::shared_ptr<Stream>& stream)
      : event_(std::move(event)), mark_(event_->BeginWait(stream)) {
    if (mark_ != nullptr) awaited_ = {mark_->stream, mark_->task, nullptr};
  }
  ~WaitTask() override { event_->EndWait(); }
  Progress Run(Status*) override {
    const bool reached = mark_ == nullptr || event_->Reached(*mark_);
    return reached ? Progress::kDone : Progress::kParked;
  }
  const char* name() const override { return "wait for event"; }
  bool skipped_after_error() const override { return false; }
  bool only_waits() const override { return true; }
  const Awaited* awaited() const override { return mark_ != nullptr ? &awaited_ : nullptr; }
  std::string waits_until() const override {
    const std::shared_ptr<Stream> stream = awaited_.stream.lock();
    const std::string recorder = stream != nullptr ? stream->Name() : "a stream";
    return Concat(recorder, " has come to the record of an event", kDroppedByForce);
  }

 private:
  std::shared_ptr<Event> event_;
  std::shared_ptr<const Event::Mark> mark_;
  Awaited awaited_;
};

}  // namespace

Event::Snapshot Event::Look() {
  std::lock_guard lock(mutex_);
  if (last_ == nullptr) {
    Snapshot state;
    state.point = point_;
    state.waits = waits_;
    return state;
  }
  return {true, last_->reached, last_->time, stream_, task_, point_, waits_};
}

void Event::Record(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream) {
  auto mark = std::make_shared<Mark>();
  auto task = std::make_unique<RecordTask>(self, mark);
  // Under the lock, so that the last record of several threads is the one enqueued last.
  std::lock_guard lock(mutex_);
  point_ = PointOf(stream->number());
  NoteLocked(stream, stream->Enqueue(std::move(task)), std::move(mark));
}

uint64_t Event::RecordBehind(std::vector<std::unique_ptr<Task>>&& tasks,
                             const std::shared_ptr<Event>& self,
                             const std::shared_ptr<Stream>& stream) {
  auto mark = std::make_shared<Mark>();
  tasks.push_back(std::make_unique<RecordTask>(self, mark));
  std::lock_guard lock(mutex_);
  point_ = PointOf(stream->number());
  NoteLocked(stream, stream->Enqueue(std::move(tasks)), std::move(mark));
  return task_;
}

void Event::NoteLocked(const std::shared_ptr<Stream>& stream, uint64_t task,
                       std::shared_ptr<Mark> mark) {
  mark->stream = stream;
  mark->task = task_ = task;
  last_ = std::move(mark);
  stream_ = stream;
  was_recorded_.store(true, std::memory_order_relaxed);
  was_reset_.store(false, std::memory_order_relaxed);
  if (!captured()) return;
  captured_.store(false, std::memory_order_release);
  captured_at_.reset();
}

std::shared_ptr<const CapturePoint> Event::capture_point() {
  std::lock_guard lock(mutex_);
  return captured_at_;
}

void Event::RecordInCapture(std::shared_ptr<const CapturePoint> point) {
  std::lock_guard lock(mutex_);
  captured_at_ = std::move(point);
  captured_.store(true, std::memory_order_release);
  was_recorded_.store(true, std::memory_order_relaxed);
  was_reset_.store(false, std::memory_order_relaxed);
}

void Event::Reset(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream) {
  std::shared_ptr<const Mark> mark;
  {
    std::lock_guard lock(mutex_);
    mark = last_;
  }
  stream->Enqueue(std::make_unique<ResetTask>(self, std::move(mark)));
  was_reset_.store(true, std::memory_order_relaxed);
}

void Event::Await(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream) {
  stream->Enqueue(std::make_unique<WaitTask>(self, stream));
}

void Event::Complete(Mark& mark) {
  std::vector<std::shared_ptr<Stream>> waiters;
  {
    std::lock_guard lock(mutex_);
    mark.reached = true;
    mark.time = Clock::now();
    waiters.swap(mark.waiters);
  }
  for (const auto& stream : waiters) stream->Wake();
}

void Event::Clear(const Mark* mark) {
  std::lock_guard lock(mutex_);
  if (last_ == nullptr || last_.get() != mark || !mark->reached) return;
  last_.reset();
  stream_.reset();
}

bool Event::Reached(const Mark& mark) {
  std::lock_guard lock(mutex_);
  return mark.reached;
}

// The stream is noted before its task is enqueued: nothing can fail then when the task comes to
// run, and to be woken too early does no harm.
std::shared_ptr<const Event::Mark> Event::BeginWait(const std::shared_ptr<Stream>& stream) {
  std::lock_guard lock(mutex_);
  if (last_ != nullptr && !last_->reached) last_->waiters.push_back(stream);
  AwaitPoint(stream->number(), point_);
  waits_ = Joined(waits_, PointOf(stream->number()));
  ++waits_pending_;
  return last_;
}

void Event::EndWait() {
  std::lock_guard lock(mutex_);
  --waits_pending_;
}

uint64_t Event::waits_pending() {
  std::lock_guard lock(mutex_);
  return waits_pending_;
}

}  // namespace openaclnn
