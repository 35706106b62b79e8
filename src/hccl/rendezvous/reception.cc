// SPDX-License-Identifier: Apache-2.0
// Reception: connections are heard side by side, so that one that is silent delays none.
#include "hccl/rendezvous/reception.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

#include "client/client.h"
#include "hccl/hccl_types.h"

namespace openaclnn {
namespace {

using std::chrono::steady_clock;

// Beyond so many that have not said who they are the oldest goes.
constexpr size_t kMaxGuests = 128;
// For a rank to say who it is, once it is connected.
constexpr std::chrono::seconds kHelloTime{5};
// Between looks whether the process has a descriptor again.
constexpr std::chrono::milliseconds kFullTime{20};
// For an answer, which fits in a socket's buffer, to be taken.
constexpr std::chrono::seconds kAnswerTime{5};

Welcome MakeWelcome(uint32_t code, uint32_t rank, size_t bytes) {
  Welcome welcome{};
  std::memcpy(welcome.magic, kWelcomeMagic, sizeof(kWelcomeMagic));
  welcome.version = kRendezvousVersion;
  welcome.code = code;
  welcome.root_rank = rank;
  welcome.bytes = static_cast<uint32_t>(bytes);
  welcome.checked = Runtime().check_level() != 0 ? 1 : 0;
  return welcome;
}

bool Answer(const Socket& socket, const Welcome& welcome, const std::string& body) {
  std::string frame(reinterpret_cast<const char*>(&welcome), sizeof(welcome));
  frame += body;
  return WriteAll(socket, frame.data(), frame.size(), steady_clock::now() + kAnswerTime);
}

}  // namespace

Reception::Reception(const Nonce& nonce, uint32_t ranks, uint32_t rank, std::string address)
    : nonce_(nonce), rank_(rank), seats_(ranks), missing_(ranks - 1) {
  seats_[rank].address = std::move(address);
  seats_[rank].taken = true;
}

Status Reception::Receive(const Socket& listener, std::chrono::seconds timeout, Meeting* meeting) {
  const Deadline deadline = steady_clock::now() + timeout;
  while (missing_ > 0 || SomeHaveGone()) {
    if (steady_clock::now() >= deadline) {
      Status status = Missing(timeout);
      for (const Seat& seat : seats_) {
        if (seat.socket) Refuse(seat.socket, status);
      }
      return status;
    }
    Await(listener, deadline);
  }
  SeatAll(meeting);
  return {};
}

void Reception::RefuseAll(const Socket& listener, const Status& why,
                          std::chrono::milliseconds time) {
  failure_ = Status(HCCL_E_REMOTE, Concat("rank ", rank_, ", the root's, has failed (", why.text(),
                                          "), expected it to make the communicator"));
  const Deadline deadline = steady_clock::now() + time;
  while (missing_ > 0 && steady_clock::now() < deadline) Await(listener, deadline);
}

void Reception::Await(const Socket& listener, Deadline deadline) {
  std::vector<pollfd> descriptors = {{listener.get(), POLLIN, 0}};
  for (const Guest& guest : guests_) descriptors.push_back({guest.socket.get(), POLLIN, 0});
  // One that sits and closes has died: poll passes over those that are not taken (-1).
  for (const Seat& seat : seats_) descriptors.push_back({seat.socket.get(), POLLIN, 0});
  // Guests are in the order in which they came.
  if (!guests_.empty()) deadline = std::min(deadline, guests_.front().until);
  if (poll(descriptors.data(), descriptors.size(), MillisecondsUntil(deadline)) <= 0) {
    return SendSilentAway();
  }
  size_t next = 1;
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    const bool said = descriptors[next++].revents != 0;
    guest = said && !Hear(&*guest) ? guests_.erase(guest) : std::next(guest);
  }
  for (uint32_t rank = 0; rank < seats_.size(); ++rank) {
    // A rank that was seated just now is not among the descriptors.
    if (descriptors[next + rank].revents != 0 && descriptors[next + rank].fd >= 0) EmptySeat(rank);
  }
  SendSilentAway();
  if (descriptors[0].revents != 0) Accept(listener);
}

void Reception::SendSilentAway() {
  const Deadline now = steady_clock::now();
  while (!guests_.empty() && guests_.front().until <= now) guests_.pop_front();
}

void Reception::Accept(const Socket& listener) {
  Socket socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    // Without a descriptor the listener stays ready: poll would come back at once for ever.
    if (errno != EMFILE && errno != ENFILE) return;
    if (guests_.empty()) std::this_thread::sleep_for(kFullTime);
    if (!guests_.empty()) guests_.pop_front();
    return;
  }
  MakeDirect(socket);
  if (guests_.size() >= kMaxGuests) guests_.pop_front();
  guests_.push_back({std::move(socket), {}, steady_clock::now() + kHelloTime});
}

bool Reception::Hear(Guest* guest) {
  char bytes[4096];
  const ssize_t got = recv(guest->socket.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  guest->said.append(bytes, static_cast<size_t>(got));
  return HearAll(guest);
}

bool Reception::HearAll(Guest* guest) {
  Hello hello{};
  constexpr size_t kStart = sizeof(hello.magic) + sizeof(hello.version);
  const size_t spoken = std::min(guest->said.size(), sizeof(hello.magic));
  if (std::memcmp(guest->said.data(), kHelloMagic, spoken) != 0) return false;  // a stranger
  if (guest->said.size() < kStart) return true;
  // Another version's is of a length that is not known.
  std::memcpy(&hello, guest->said.data(), kStart);
  const bool same = hello.version == kRendezvousVersion;
  if (same && guest->said.size() < sizeof(hello)) return true;
  if (same) std::memcpy(&hello, guest->said.data(), sizeof(hello));
  const Status status = Judge(hello);
  if (!status.ok()) {
    Refuse(guest->socket, status);
    if (hello.nonce == nonce_) refused_ = status.text();
    return false;
  }
  if (guest->said.size() < sizeof(hello) + hello.address_bytes) return true;
  if (!failure_.ok()) {
    Refuse(guest->socket, failure_);
    seats_[hello.rank].taken = true;
    --missing_;
    return false;
  }
  seats_[hello.rank] = {std::move(guest->socket),
                        guest->said.substr(sizeof(hello), hello.address_bytes), true};
  --missing_;
  return false;
}

Status Reception::Judge(const Hello& hello) const {
  if (hello.version != kRendezvousVersion) {
    return Status(HCCL_E_PARA, Concat("version of the rank's libhccl.so is ", hello.version,
                                      ", expected ", kRendezvousVersion, " as the root's"));
  }
  if (hello.nonce != nonce_) {
    return Status(HCCL_E_PARA,
                  "rootInfo value is of another communicator, expected that of the "
                  "root that was asked");
  }
  if (hello.ranks != seats_.size()) {
    return Status(HCCL_E_PARA, Concat("nRanks value of rank ", hello.rank, " is ", hello.ranks,
                                      ", expected ", seats_.size(), " as on rank ", rank_));
  }
  if (hello.rank >= seats_.size() || hello.address_bytes > kMaxAddressBytes) {
    return Status(HCCL_E_PARA, Concat("rank value is ", hello.rank, " with an address of ",
                                      hello.address_bytes, " bytes, expected a rank below ",
                                      seats_.size(), " and at most ", kMaxAddressBytes));
  }
  if (seats_[hello.rank].taken) {
    return Status(HCCL_E_PARA, Concat("rank value is ", hello.rank,
                                      ", which another process has "
                                      "come as, expected each rank once"));
  }
  return {};
}

void Reception::Refuse(const Socket& socket, const Status& status) const {
  const std::string words = status.text().substr(0, kMaxRefusalBytes);
  (void)Answer(socket, MakeWelcome(static_cast<uint32_t>(status.code()), rank_, words.size()),
               words);
}

void Reception::EmptySeat(uint32_t rank) {
  if (!seats_[rank].taken || rank == rank_) return;
  seats_[rank] = {};
  ++missing_;
}

// Those that came may have lost patience while this process stood still.
bool Reception::SomeHaveGone() {
  for (uint32_t rank = 0; rank < seats_.size(); ++rank) {
    char byte = 0;
    const Socket& socket = seats_[rank].socket;
    if (!socket || recv(socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0) continue;
    EmptySeat(rank);
  }
  return missing_ > 0;
}

Status Reception::Missing(std::chrono::seconds timeout) const {
  std::string ranks;
  for (uint32_t rank = 0; rank < seats_.size(); ++rank) {
    if (!seats_[rank].taken) ranks += Concat(ranks.empty() ? "" : ", ", rank);
  }
  return Status(HCCL_E_TIMEOUT,
                Concat("rank ", ranks, " of ", seats_.size(), " has not come in ", timeout.count(),
                       " s (HCCL_CONNECT_TIMEOUT), expected all ranks to make the "
                       "communicator",
                       refused_.empty() ? "" : "; refused was one whose ", refused_));
}

void Reception::SeatAll(Meeting* meeting) {
  meeting->checked = Runtime().check_level() != 0;
  std::string body;
  for (const Seat& seat : seats_) {
    const auto bytes = static_cast<uint32_t>(seat.address.size());
    body.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes)).append(seat.address);
    meeting->addresses.push_back(seat.address);
  }
  for (uint32_t rank = 0; rank < seats_.size(); ++rank) {
    const Socket& socket = seats_[rank].socket;
    if (rank == rank_ || Answer(socket, MakeWelcome(0, rank_, body.size()), body)) continue;
    (void)shutdown(socket.get(), SHUT_RDWR);  // that it has gone all are told by the notices
  }
  for (Seat& seat : seats_) meeting->sockets.push_back(std::move(seat.socket));
}

}  // namespace openaclnn
