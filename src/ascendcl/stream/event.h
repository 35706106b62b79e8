// SPDX-License-Identifier: Apache-2.0
// Event: a point in a stream that other streams and the host can wait for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ascendcl/process/handles.h"
#include "ascendcl/stream/stream.h"
#include "ascendcl/watch/race_watch.h"

namespace openaclnn {

/// Where a capture stood when an event was recorded in it (capture.h).
struct CapturePoint {
  uint64_t capture;   // its number
  VectorClock clock;  // captured tasks that come before, by stream
};

/// Each record supersedes the one before it; a wait stands for the record that was last when it was
/// enqueued, whatever is recorded since.
class Event {
 public:
  static constexpr Kind kKind = Kind::kEvent;
  static constexpr const char* kNoun = "event";
  using Clock = std::chrono::steady_clock;

  /// One record, shared by the event, the task that reaches it and those that wait for it; guarded
  /// by the event's lock.
  struct Mark {
    // Which task of which stream reaches it: written before others see the mark.
    std::weak_ptr<Stream> stream;
    uint64_t task = 0;

    bool reached = false;
    Clock::time_point time;                        // when it was reached
    std::vector<std::shared_ptr<Stream>> waiters;  // woken then
  };

  struct Snapshot {
    bool recorded = false;           // there is a record, and no reset since
    bool reached = true;             // so is an event without one
    Clock::time_point time;          // when it was
    std::shared_ptr<Stream> stream;  // where the last record was enqueued
    uint64_t task = 0;               // and which task of that stream it is
    StreamPoint point;               // what the last record comes after, also when it was reset
    StreamPoint waits;               // what comes before all waits so far
  };

  Event(uint32_t flags, bool resettable) : flags_(flags), resettable_(resettable) {}

  uint32_t flags() const { return flags_; }
  bool resettable() const { return resettable_; }
  /// Whether there ever was a record, also one that was reset.
  bool was_recorded() const { return was_recorded_.load(std::memory_order_relaxed); }
  /// Whether, by the order of the calls, there was a reset since the last record.
  bool was_reset() const { return was_reset_.load(std::memory_order_relaxed); }
  Snapshot Look();

  /// Whether the last record was made in a capture; its point, or null.
  bool captured() const { return captured_.load(std::memory_order_acquire); }
  std::shared_ptr<const CapturePoint> capture_point();
  void RecordInCapture(std::shared_ptr<const CapturePoint> point);

  void Record(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream);
  /// As Record, behind tasks that are enqueued together with it: all, or none if it throws. Returns
  /// the number of the record's task.
  uint64_t RecordBehind(std::vector<std::unique_ptr<Task>>&& tasks,
                        const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream);
  /// Forgets the last record once the stream has come that far.
  void Reset(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream);
  /// Holds the stream's later tasks until the last record is reached.
  void Await(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream);

  // For the tasks of this event.
  void Complete(Mark& mark);
  /// Forgets the mark, if it is the last one still and is reached.
  void Clear(const Mark* mark);
  bool Reached(const Mark& mark);
  /// The record to wait for, null if there is none; the stream is woken when it is reached.
  std::shared_ptr<const Mark> BeginWait(const std::shared_ptr<Stream>& stream);
  void EndWait();
  uint64_t waits_pending();

 private:
  void NoteLocked(const std::shared_ptr<Stream>& stream, uint64_t task, std::shared_ptr<Mark> mark);

  const uint32_t flags_;
  const bool resettable_;
  std::atomic<bool> was_recorded_{false};
  std::atomic<bool> was_reset_{false};
  std::atomic<bool> captured_{false};  // whether there is a captured_at_
  std::mutex mutex_;                   // guards what follows
  std::shared_ptr<Mark> last_;
  std::shared_ptr<Stream> stream_;  // of the last record
  uint64_t task_ = 0;
  uint64_t waits_pending_ = 0;
  StreamPoint point_, waits_;  // as in Snapshot
  std::shared_ptr<const CapturePoint> captured_at_;
};

}  // namespace openaclnn
