// SPDX-License-Identifier: Apache-2.0
// Event: a point in a stream that other streams and the host can wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ascendcl/handles.h"
#include "ascendcl/stream.h"

namespace openaclnn {

/// Each record supersedes the one before it; a wait stands for the record that was last when it was
/// enqueued. Records are numbered from 1; 0 means that there is none.
class Event {
 public:
  static constexpr Kind kKind = Kind::kEvent;
  static constexpr const char* kNoun = "event";
  using Clock = std::chrono::steady_clock;

  struct Snapshot {
    uint64_t recorded = 0;           // number of the last record that was enqueued
    uint64_t completed = 0;          // number of the last record that was reached
    uint64_t reset = 0;              // records up to this one are forgotten
    Clock::time_point time;          // when it was reached
    std::shared_ptr<Stream> stream;  // where the last record was enqueued
    uint64_t task = 0;               // and which task of that stream it is
  };

  Event(uint32_t flags, bool resettable) : flags_(flags), resettable_(resettable) {}

  uint32_t flags() const { return flags_; }
  bool resettable() const { return resettable_; }
  Snapshot Look();

  void Record(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream);
  /// Forgets all records once the stream has come that far.
  void Reset(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream);
  /// Holds the stream's later tasks until the last record is reached.
  void Await(const std::shared_ptr<Event>& self, const std::shared_ptr<Stream>& stream);

  // For the tasks of this event.
  void Complete(uint64_t record);
  void Clear();
  /// True when the record was reached; otherwise the stream is woken once it is.
  bool ReachedOrWake(uint64_t record, const std::shared_ptr<Stream>& stream);
  uint64_t waits_pending();
  void WaitDone();

 private:
  const uint32_t flags_;
  const bool resettable_;
  std::mutex mutex_;  // guards what follows
  Snapshot state_;
  uint64_t waits_pending_ = 0;
  std::vector<std::shared_ptr<Stream>> waiters_;
};

}  // namespace openaclnn
