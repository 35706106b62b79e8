// SPDX-License-Identifier: Apache-2.0
// Progress: the thread of the process that moves messages, and sleeps while there are none.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "common/status.h"

namespace openaclnn {

/// An object that has messages to move.
class Moved {
 public:
  struct Result {
    bool any = false;      // something was moved
    bool busy = false;     // messages are under way that others wait for
    bool lingers = false;  // messages are under way
  };
  virtual Result Progress() = 0;
  /// After the descriptors said something, or time went by: fails what can no longer end.
  virtual void LookAtPeers() = 0;
  /// Whether what has ended is still to reach a rank that lives; what has failed, for a moment from
  /// `since` on.
  virtual bool Owes(std::chrono::steady_clock::time_point since) = 0;
  /// The process ends: what is under way can no longer end well.
  virtual void Quit() = 0;
  /// As Engine's.
  virtual bool AddDescriptors(bool messages, std::vector<pollfd>* descriptors) = 0;
  /// Nothing will ever come of it again.
  virtual bool over() const { return false; }

 protected:
  ~Moved() = default;
};

/// Moves the messages of all, side by side, until none owes any or the time is over. Needs no
/// memory.
void SendOut(std::span<Moved* const> all,
             std::optional<std::chrono::steady_clock::time_point> until);

class MessageMover {
 public:
  static MessageMover& Get();
  /// In a child of fork whose parent had the thread: it stayed there.
  static bool StayedBehind();

  /// Moves its messages from now on; HCCL_E_UNAVAIL without a thread for it.
  Status Add(std::shared_ptr<Moved> moved);
  /// Returns once the thread has nothing to do with it any more.
  void Remove(const Moved* moved);
  /// There is something to move at once.
  void Kick();
  /// There is something to move, in time.
  void Nudge();
  /// The process ends: what is owed has a second to be sent, then the thread stands still.
  void Quit();

 private:
  using All = std::vector<std::shared_ptr<Moved>>;

  MessageMover() { descriptors_.reserve(1); }
  Status StartLocked();
  // Where memory is short the thread goes on: what fails then is told all the same.
  void Main();
  void NextRound();
  void Round();
  enum class Rest : uint8_t { kNone, kForAWhile, kUntilKicked };
  void Wake();
  /// Whether it did.
  bool Sleep(uint64_t kicks);
  void LookAtPeers(bool slept);

  int wake_ = -1;                                 // an eventfd; set before the thread starts
  All now_;                                       // of the thread: those of this round
  std::vector<pollfd> descriptors_;               // and what it sleeps on
  Moved::Result last_;                            // of all in the last round
  uint32_t idle_ = 0;                             // and rounds since anything moved
  std::chrono::steady_clock::time_point looked_;  // at the peers
  std::atomic<bool> quit_{false};
  std::atomic<uint64_t> kicks_{0};
  std::atomic<Rest> rest_{Rest::kNone};

  std::mutex mutex_;  // guards what follows
  std::condition_variable begun_;
  All all_;
  All spare_;           // empty; it or now_ has room for all
  uint64_t round_ = 0;  // that the thread is in
  bool started_ = false;
};

}  // namespace openaclnn
