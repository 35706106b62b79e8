// SPDX-License-Identifier: Apache-2.0
// Communicator: this rank's place among the ranks, its engine, and its operations.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/handle_table.h"
#include "common/status.h"
#include "hccl/communicator/held_stream.h"
#include "hccl/engine/engine.h"
#include "hccl/engine/progress.h"

namespace openaclnn {

/// Added to the tag of a message between two ranks: what its receiver answers.
inline constexpr uint64_t kReplyTag = uint64_t{1} << 46;

/// An operation, as its communicator sees it.
class Pending {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Pending() = default;
  /// The stream gets this error, unless the operation is done or has failed before.
  virtual void Fail(Status status) = 0;
  virtual bool failed() const = 0;
  /// Whether a message to or from the peer is still to be moved.
  virtual bool Needs(uint32_t peer) const = 0;
  /// No message is under way: the engine knows the operation no more.
  virtual bool quiet() const = 0;
  virtual std::optional<Clock::time_point> deadline() const = 0;
  /// The error when its time is over; it names the ranks that it waits for.
  virtual Status TimeoutError() const = 0;
  /// The stream whose last task it is, or is a part of.
  virtual std::shared_ptr<HeldStream> stream() const = 0;
};

class Communicator final : public Moved {
 public:
  using Clock = Pending::Clock;

  struct Settings {
    std::string name;
    std::chrono::seconds timeout{0};  // of an operation; 0: for ever
    bool checked = false;             // the ranks compare their calls: all or none
    std::string identifier;           // the ranks' alone, whatever others are named
  };

  /// For one rank alone the engine is null.
  Communicator(uint32_t size, uint32_t rank, Settings settings, std::unique_ptr<Engine> engine);
  Communicator(const Communicator&) = delete;

  uint32_t size() const { return size_; }
  uint32_t rank() const { return rank_; }
  const std::string& name() const { return settings_.name; }
  /// The name as a string of JSON, in which bytes that are no UTF-8 are U+FFFD.
  const std::string& quoted_name() const { return quoted_name_; }
  const std::string& identifier() const { return settings_.identifier; }
  std::chrono::seconds timeout() const { return settings_.timeout; }
  bool checked() const { return settings_.checked; }
  Engine& engine() const { return *engine_; }
  bool alone() const { return engine_ == nullptr; }

  /// HCCL_E_REMOTE from when a peer has died, an operation failed for want of one, or this rank has
  /// given up.
  int async_error() const { return async_error_.load(std::memory_order_acquire); }
  /// Its words; once there is one.
  const Status& remote_error() const { return remote_error_; }
  void NoteRemoteError(const Status& status);

  /// How many collectives there were, and messages to and from each peer: the ranks count alike.
  struct Numbers {
    uint64_t collectives = 0;
    std::map<std::pair<uint32_t, bool>, uint64_t> messages;

    uint64_t NextTag();
    uint64_t NextMessageTag(uint32_t peer, bool receives);
  };
  /// Held while operations are numbered and enqueued, so that both have one order.
  std::unique_lock<std::mutex> LockOrder() { return std::unique_lock(order_mutex_); }
  /// Under that lock.
  Numbers& numbers() { return numbers_; }
  /// The tag of a message that `sender` sends in a step.
  uint64_t TagOfStep(uint64_t tag, uint32_t sender, uint32_t step) const;

  /// Waits for the operations and leaves. Needs no memory.
  void Close();
  /// The streams of the operations that Close would wait for.
  std::vector<std::shared_ptr<HeldStream>> AwaitedStreams();

  // For operations.
  std::optional<Clock::time_point> DeadlineFromNow() const;
  void Queued(const Pending& operation);
  void Begun(std::shared_ptr<Pending> operation);
  void Finished(Pending& operation);
  /// An operation has failed while its messages were on their way: its memory is the program's now,
  /// so that they must not go on, and no other operation can.
  void GiveUp(const Status& cause);
  void Ended(const Pending& operation);
  /// Messages are under way that the thread of messages is to move at once, until they are taken
  /// back; others it moves in time.
  void HandOver();
  void TakeBack() { handed_over_.fetch_sub(1, std::memory_order_acq_rel); }

  // For the thread that moves messages.
  Result Progress() override;
  void LookAtPeers() override;
  bool AddDescriptors(bool messages, std::vector<pollfd>* descriptors) override {
    return engine_->AddDescriptors(messages, descriptors);
  }
  bool Owes(Clock::time_point since) override;
  void Quit() override;

 private:
  struct Peer {
    PeerState state = PeerState::kAlive;
    Clock::time_point since;
  };
  /// To move one from list to list needs no memory.
  using Operations = std::list<std::shared_ptr<Pending>>;

  /// Takes the finished operations whose messages are done.
  Operations TakeQuietLocked();
  /// Notes the state of each peer as the engine knows it now.
  void NotePeers();
  void FailAll(const Status& cause);
  /// All that are active, with the words of `over_`.
  void FailActive();
  struct Doomed {
    std::shared_ptr<Pending> operation;
    uint32_t peer = 0;  // which it has lost; this rank where its time is over
  };
  /// One that can no longer end and does not know it, or none.
  Doomed NextDoomed();
  /// Returns the lost peer to name in the error, or this rank if none is lost. Called under the
  /// lock.
  uint32_t LostBy(const Pending& operation, bool died, Clock::time_point now) const;
  bool Lost(uint32_t peer, Clock::time_point now) const;
  Status LostPeer(uint32_t peer) const;

  const uint32_t size_;
  const uint32_t rank_;
  const Settings settings_;
  const std::string quoted_name_;
  const std::unique_ptr<Engine> engine_;
  std::atomic<int> async_error_{0};
  std::atomic<uint32_t> handed_over_{0};  // operations
  Status remote_error_;                   // written once, before async_error_

  std::mutex order_mutex_;  // guards what follows
  Numbers numbers_;

  std::mutex error_mutex_;  // of those that note one

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::set<const Pending*> queued_;  // operations that live
  Operations active_;                // begun and not finished
  Operations fading_;                // finished, with messages that the engine still has
  bool gave_up_ = false;
  std::vector<Peer> peers_;
  Status over_;  // why no operation can begin any more
};

/// The table's entry of a communicator.
struct CommunicatorEntry {
  static constexpr Kind kKind = Kind::kCommunicator;
  std::shared_ptr<Communicator> object;
};

/// Null when no handle is left.
void* InsertCommunicator(std::shared_ptr<Communicator> communicator);
/// HCCL_E_PARA unless the handle is a live communicator's.
Status FindCommunicator(const void* handle, std::shared_ptr<Communicator>* communicator);
Status RemoveCommunicator(const void* handle, std::shared_ptr<Communicator>* communicator);

}  // namespace openaclnn
