// SPDX-License-Identifier: Apache-2.0
// The side of a rank that goes to the root.
#include "hccl/rendezvous/rendezvous.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "hccl/rendezvous/greeting.h"
#include "hccl/rendezvous/reception.h"

namespace openaclnn {
namespace {

using std::chrono::steady_clock;

/// By which the root may have begun later than the others, who hear from it who is missing; and how
/// long one that will not meet them waits to say so.
std::chrono::seconds Grace(const HcclEnvironment& environment) {
  return std::min(std::chrono::seconds(2), environment.connect_timeout);
}

Status Unreachable(const RootInfo& info) {
  std::string tried;
  for (const Address& address : info.addresses) {
    tried += Concat(tried.empty() ? "" : ", ", address.Text());
  }
  return Status(HCCL_E_TCP_CONNECT,
                Concat("root cannot be reached at ", tried,
                       ", expected its process to live and one of these to be routed here "
                       "(HCCL_IF_IP, HCCL_SOCKET_IFNAME)"));
}

Status NoAnswer(const HcclEnvironment& environment) {
  return Status(HCCL_E_TIMEOUT,
                Concat("root has not answered in ", environment.connect_timeout.count(),
                       " s (HCCL_CONNECT_TIMEOUT), expected all ranks to make the communicator"));
}

/// The root listens before anybody can know of it: whoever cannot connect now will hardly ever.
Socket ConnectToAny(const RootInfo& info, Deadline deadline) {
  constexpr std::chrono::seconds kPatience{3}, kEach{2};
  const Deadline last = std::min(deadline, steady_clock::now() + kPatience);
  while (true) {
    for (const Address& address : info.addresses) {
      Socket socket = ConnectTo(address, std::min(deadline, steady_clock::now() + kEach));
      if (socket) return socket;
    }
    if (steady_clock::now() > last) return Socket();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

bool ReadAddresses(const std::string& body, uint32_t ranks, std::vector<std::string>* addresses) {
  size_t at = 0;
  for (uint32_t i = 0; i < ranks; ++i) {
    uint32_t bytes = 0;
    if (body.size() - at < sizeof(bytes)) return false;
    std::memcpy(&bytes, body.data() + at, sizeof(bytes));
    at += sizeof(bytes);
    if (body.size() - at < bytes) return false;
    addresses->push_back(body.substr(at, bytes));
    at += bytes;
  }
  return at == body.size();
}

Status Cut(const HcclEnvironment& environment, Deadline deadline) {
  if (steady_clock::now() >= deadline) return NoAnswer(environment);
  return Status(HCCL_E_TCP_CONNECT,
                "root has closed the connection without a whole answer, expected its process to "
                "make the communicator");
}

Status ReadWelcome(const Socket& socket, const HcclEnvironment& environment, uint32_t ranks,
                   Deadline deadline, Meeting* meeting) {
  Welcome welcome;
  if (!ReadAll(socket, &welcome, sizeof(welcome), deadline)) return Cut(environment, deadline);
  const bool refused = welcome.code != 0;
  const uint64_t most =
      refused ? kMaxRefusalBytes : uint64_t{ranks} * (kMaxAddressBytes + sizeof(uint32_t));
  if (std::memcmp(welcome.magic, kWelcomeMagic, sizeof(kWelcomeMagic)) != 0 ||
      welcome.bytes > most || welcome.root_rank >= ranks || (refused && welcome.bytes == 0)) {
    return Status(HCCL_E_TCP_CONNECT,
                  "answer at the root's address is not one of libhccl.so, "
                  "expected the process that made the root info");
  }
  std::string body(welcome.bytes, '\0');
  if (!ReadAll(socket, body.data(), body.size(), deadline)) return Cut(environment, deadline);
  if (refused) return Status(static_cast<int>(welcome.code), Concat(Escaped{body}));
  meeting->root_rank = welcome.root_rank;
  meeting->checked = welcome.checked != 0;
  if (ReadAddresses(body, ranks, &meeting->addresses)) return {};
  return Status(HCCL_E_INTERNAL, "root's list of addresses is cut short, expected all ranks'");
}

Status MeetAtRoot(const HcclEnvironment& environment, const RootInfo& info, uint32_t ranks,
                  uint32_t rank, const std::string& address, Meeting* meeting) {
  const Deadline deadline = steady_clock::now() + environment.connect_timeout + Grace(environment);
  Socket socket = ConnectToAny(info, deadline);
  if (!socket) return Unreachable(info);
  Hello hello{};
  std::memcpy(hello.magic, kHelloMagic, sizeof(kHelloMagic));
  hello.version = kRendezvousVersion;
  hello.ranks = ranks;
  hello.rank = rank;
  hello.address_bytes = static_cast<uint32_t>(address.size());
  hello.nonce = info.nonce;
  std::string frame(reinterpret_cast<const char*>(&hello), sizeof(hello));
  frame += address;
  if (!WriteAll(socket, frame.data(), frame.size(), deadline)) return NoAnswer(environment);
  Status status = ReadWelcome(socket, environment, ranks, deadline, meeting);
  if (!status.ok()) return status;
  meeting->sockets.resize(ranks);
  meeting->sockets[meeting->root_rank] = std::move(socket);
  return {};
}

}  // namespace

Status Meet(const HcclEnvironment& environment, const RootInfo& info, uint32_t ranks, uint32_t rank,
            const std::string& address, Meeting* meeting) {
  Socket listener = TakeListener(info.nonce);
  if (!listener) return MeetAtRoot(environment, info, ranks, rank, address, meeting);
  meeting->root = true;
  meeting->root_rank = rank;
  Reception reception(info.nonce, ranks, rank, address);
  return reception.Receive(listener, environment.connect_timeout, meeting);
}

void RefuseToMeet(const HcclEnvironment& environment, const RootInfo& info, uint32_t ranks,
                  uint32_t rank, const Status& why) {
  const Socket listener = TakeListener(info.nonce);
  if (listener) Reception(info.nonce, ranks, rank, "").RefuseAll(listener, why, Grace(environment));
}

}  // namespace openaclnn
