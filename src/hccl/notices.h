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
#include <utility>
#include <vector>

#include "hccl/engine.h"
#include "hccl/meeting.h"
#include "hccl/progress.h"

namespace openaclnn {

/// A process that dies closes its sockets. The root has one to every rank and passes the news on.
/// Of any threads: one that ends the process may speak while that of the messages reads.
class Notices {
 public:
  Notices(uint32_t rank, Meeting meeting);

  /// Hears the others, without waiting.
  void Read();
  PeerState state(uint32_t peer) const { return states_[peer].load(std::memory_order_acquire); }
  void AddDescriptors(std::vector<pollfd>* descriptors) const;
  /// This is the root's, and another rank may still need it.
  bool relays() const;
  /// This rank has come so far; Read hears from the root when all have.
  void Arrive();
  /// How often all ranks have arrived.
  uint32_t gatherings() const;
  /// Says that this rank goes in good order. Needs no memory.
  void Leave() const;
  /// Says that an operation has failed here, and no other will end well.
  void GiveUp() const;
  /// After that nothing more is read or told.
  void Close();

 private:
  enum class News : uint32_t { kLeft = 1, kDied = 2, kGaveUp = 3, kArrived = 4 };
  struct Frame {
    News news;
    uint32_t rank;
  };
  struct Line {
    Socket socket;
    std::string said;  // a part of a frame
    bool open = false;
  };

  // Under the lock.
  void ReadLine(uint32_t peer);
  void Hear(uint32_t from, const Frame& frame);
  void Learn(uint32_t peer, PeerState state);
  void HearArrival();
  void Say(News news) const;
  static PeerState StateOf(News news);
  static News NewsOf(PeerState state);
  static void Tell(const Line& line, const Frame& frame);

  const uint32_t rank_;
  const bool root_;
  std::unique_ptr<std::atomic<PeerState>[]> states_;  // by rank, as all

  mutable std::mutex mutex_;  // guards what follows
  size_t arrived_ = 0;        // of the root: ranks, since all had
  uint32_t gatherings_ = 0;
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
