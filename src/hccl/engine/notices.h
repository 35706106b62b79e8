// SPDX-License-Identifier: Apache-2.0
// Notices: by the sockets of the rendezvous the ranks learn that another has left or died.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"
#include "hccl/engine/engine.h"
#include "hccl/engine/progress.h"
#include "hccl/rendezvous/gathering.h"
#include "hccl/rendezvous/meeting.h"

namespace openaclnn {

/// A process that dies closes its sockets. The root has one to every rank and passes the news on.
/// Of any threads: one that ends the process may speak while that of the messages reads.
class Notices {
 public:
  Notices(uint32_t rank, Meeting meeting);

  /// Hears the others, without waiting. Needs no memory.
  void Read();
  PeerState state(uint32_t peer) const { return states_[peer].load(std::memory_order_acquire); }
  void AddDescriptors(std::vector<pollfd>* descriptors) const;
  /// This is the root's, and another rank may still need it.
  bool relays() const;

  // While the communicator is made, step by step.
  /// This rank has come so far; Read hears from the root when all have.
  void Arrive();
  /// How often all ranks have arrived.
  uint32_t gatherings() const;
  /// The step takes too long, and this rank still waits for that one: the root has to know.
  void Miss(uint32_t peer);
  /// The error that names the late ranks, `over` after the deadline. Ok while other ranks may still
  /// report whom they wait for.
  Status Late(std::chrono::seconds timeout, std::chrono::nanoseconds over) const;
  /// Sends this failure to the other ranks. All ranks report the first failure that any of them
  /// sent.
  void Fail(const Status& why);
  /// The failure that another rank has sent, or else the error for a rank that is gone; ok if all
  /// ranks are there.
  Status Failure() const;

  /// Says that this rank is about to leave, once what it has said over the engine is out: until
  /// then the others are to move messages, though they wait for none. Needs no memory.
  void PrepareToLeave() const;
  /// Its state, kLeft also of one that is about to: its links may end before the news that it has.
  PeerState fate(uint32_t peer) const;
  /// Whether any other is about to.
  bool others_prepare() const { return preparing_.load(std::memory_order_relaxed) > 0; }
  /// Says that this rank goes in good order. Needs no memory.
  void Leave() const;
  /// Says that an operation has failed here, and no other will end well. Never throws.
  void GiveUp(const Status& why);
  Cause cause() const;
  /// After that nothing more is read or told.
  void Close();

 private:
  enum class News : uint32_t { kLeft = 1, kDied, kGaveUp, kArrived, kMisses, kPrepares };
  struct Frame {
    News news;
    uint32_t rank;   // of which they are
    uint32_t value;  // with words, their code; of one that misses another, that one
    uint32_t bytes;  // of words, which follow
  };
  struct Line {
    Socket socket;
    std::string said;  // a part of a frame
    bool open = false;
    bool left = false;  // it has said that it goes in good order
    bool prepares = false;
  };

  // Under the lock.
  void ReadLine(uint32_t peer);
  /// Those that are whole; false where one cannot be.
  bool HearFrames(uint32_t peer);
  void Lose(uint32_t peer);
  void Hear(uint32_t from, const Frame& frame, std::string_view words);
  void HearFailure(const Frame& frame, std::string_view words);
  void Learn(uint32_t peer, PeerState state);
  void HearArrival(uint32_t rank);
  void Say(News news, uint32_t value = 0, std::string_view words = {}) const;
  /// The root's, to all but whom it is about.
  void PassOn(const Frame& frame, std::string_view words = {}) const;
  static PeerState StateOf(News news);
  static News NewsOf(PeerState state);
  static void Tell(const Line& line, const Frame& frame, std::string_view words = {});

  const uint32_t rank_;
  const bool root_;
  const uint32_t root_rank_;
  std::unique_ptr<std::atomic<PeerState>[]> states_;  // by rank, as all
  std::atomic<uint32_t> preparing_{0};                // ranks that are about to leave

  mutable std::mutex mutex_;  // guards what follows
  Gathering gathering_;       // of the root
  uint32_t gatherings_ = 0;
  Status failure_;            // the first
  uint32_t failed_rank_ = 0;  // of which it is
  std::vector<Line> lines_;
};

/// The root's notices once its rank has left: they pass on the news until all others are gone.
class Relay final : public Moved {
 public:
  explicit Relay(std::shared_ptr<Notices> notices) : notices_(std::move(notices)) {}

  Result Progress() override { return {}; }
  void LookAtPeers() override { notices_->Read(); }
  bool AddDescriptors(bool, std::vector<pollfd>* descriptors) override {
    notices_->AddDescriptors(descriptors);
    return true;
  }
  bool over() const override { return !notices_->relays(); }
  bool Owes(std::chrono::steady_clock::time_point) override { return false; }
  void Quit() override {}

 private:
  const std::shared_ptr<Notices> notices_;
};

}  // namespace openaclnn
