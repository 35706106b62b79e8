// SPDX-License-Identifier: Apache-2.0
// Engine: what moves the bytes of one communicator's messages. Order, types and streams are not
// its.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace openaclnn {

class Transfer;

/// Is told, by whatever thread and with the engine locked, that a message has been moved or not.
class TransferOwner {
 public:
  virtual void Done(Transfer& transfer, const Status& status) = 0;

 protected:
  ~TransferOwner() = default;
};

/// One message to or from a peer. A send is done when the peer has received it.
class Transfer {
 public:
  bool receives = false;
  uint32_t peer = 0;
  uint64_t tag = 0;  // messages of a pair with the same tag keep their order
  void* data = nullptr;
  size_t bytes = 0;
  bool shorter = false;  // what is received may have fewer bytes, not more
  TransferOwner* owner = nullptr;

  // The engine's, while the message is under way.
  void* engine = nullptr;
  void* request = nullptr;
};

/// Causes before what follows from them.
enum class PeerState {
  kAlive,
  kDied,
  kLeft,    // has destroyed its communicator
  kGaveUp,  // an operation has failed there
  kUnheard  // whether it lives cannot be known any more: the root's rank, which would tell, died
};

/// The words in which a message describes a peer that is not alive.
inline const char* WordsOf(PeerState state) {
  switch (state) {
    case PeerState::kDied:
      return "has died or cannot be reached";
    case PeerState::kLeft:
      return "has destroyed its communicator";
    case PeerState::kGaveUp:
      return "has given up, since an operation has failed there";
    default:
      return "cannot be watched any more, since the root's rank has died";
  }
}

struct Cause {
  uint32_t rank = 0;
  std::string words;
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// Begins to move the message; it is the engine's until its owner has been told.
  virtual void Begin(Transfer* transfer) = 0;
  /// Tells the owner of a receive soon; a send may go on.
  virtual void Cancel(Transfer* transfer) = 0;
  /// Moves what can be moved now; whether there was anything.
  virtual bool Progress() = 0;
  /// Whether messages arrive by Progress alone.
  virtual bool needs_progress() const = 0;

  /// Whether a peer needs this rank to move messages, though it waits for none.
  virtual bool peers_need_progress() const { return false; }

  /// Reads what is known of the peers, without waiting.
  virtual void LookAtPeers() {}
  virtual PeerState peer_state(uint32_t peer) const = 0;
  /// The first that gave up, and why; no words where nobody did.
  virtual Cause cause() const = 0;

  /// Adds what a thread sleeps on: until news of peers comes and, if `messages`, until Progress has
  /// something to do. False when it has now.
  virtual bool AddDescriptors(bool messages, std::vector<pollfd>* descriptors) = 0;

  /// Tells the peers that this rank takes no part any more, and why, and neither reads nor writes
  /// the memory of messages that cannot be cancelled. Never throws.
  virtual void GiveUp(const Status& cause) = 0;
  /// Tells the peers that this rank goes, in good order. Messages that are still under way are
  /// forgotten: their memory is not touched any more.
  virtual void Leave() = 0;
  /// The process ends: nothing more is moved. Needs no memory.
  virtual void Quit() {}
};

}  // namespace openaclnn
