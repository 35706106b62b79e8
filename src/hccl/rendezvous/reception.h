// SPDX-License-Identifier: Apache-2.0
// Reception: the root's side of the rendezvous.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "common/status.h"
#include "hccl/rendezvous/greeting.h"
#include "hccl/rendezvous/meeting.h"

namespace openaclnn {

/// Seats the ranks that come; whoever is no rank is refused with words or, if it does not speak as
/// one, sent away.
class Reception {
 public:
  Reception(const Nonce& nonce, uint32_t ranks, uint32_t rank, std::string address);

  Status Receive(const Socket& listener, std::chrono::seconds timeout, Meeting* meeting);
  /// Tells all that come why this rank does not, until each has come or the time is over.
  void RefuseAll(const Socket& listener, const Status& why, std::chrono::milliseconds time);

 private:
  struct Guest {
    Socket socket;
    std::string said;
    Deadline until;  // to have said who it is
  };
  struct Seat {
    Socket socket;
    std::string address;
    bool taken = false;
  };

  void Await(const Socket& listener, Deadline deadline);
  /// Those whose time is over.
  void SendSilentAway();
  void Accept(const Socket& listener);
  /// False when the guest is to go, or has been seated.
  bool Hear(Guest* guest);
  bool HearAll(Guest* guest);
  Status Judge(const Hello& hello) const;
  void Refuse(const Socket& socket, const Status& status) const;
  void EmptySeat(uint32_t rank);
  /// Whether one that sat has gone meanwhile; its seat is empty then.
  bool SomeHaveGone();
  Status Missing(std::chrono::seconds timeout) const;
  void SeatAll(Meeting* meeting);

  const Nonce nonce_;
  const uint32_t rank_;
  std::vector<Seat> seats_;
  uint32_t missing_;
  std::list<Guest> guests_;
  std::string refused_;  // why one of this communicator was sent away last
  Status failure_;       // why all are
};

}  // namespace openaclnn
