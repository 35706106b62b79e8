// SPDX-License-Identifier: Apache-2.0
// Any bytes where ranks meet: as root info, as what comes to the root's port, as the root's answer,
// as news of ranks, as what a rank says that it calls. Sockets are of one machine, so that no bytes
// reach another.
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hccl/communicator/agreement.h"
#include "hccl/engine/notices.h"
#include "hccl/rendezvous/greeting.h"
#include "hccl/rendezvous/reception.h"
#include "hccl/rendezvous/rendezvous.h"
#include "tests/fuzz/fuzz.h"

namespace openaclnn::fuzz {
namespace {

using std::chrono::seconds;

/// What is left of an input, in parts.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : text_(reinterpret_cast<const char*>(data), size) {}

  bool More() const { return !text_.empty(); }
  uint32_t Below(uint32_t count) {
    const std::string one = Take(1);
    return one.empty() ? 0 : static_cast<uint8_t>(one[0]) % count;
  }
  std::string Take(size_t most) {
    const std::string part = text_.substr(0, most);
    text_.erase(0, part.size());
    return part;
  }
  std::string Rest() { return Take(text_.size()); }

 private:
  std::string text_;
};

void MustSay(const Status& status, const char* what) {
  if (!status.ok()) Must(!status.text().empty(), what, status.code());
}

/// A listener that the system names, and the way to it.
Socket ListenHere(Address* address) {
  Socket listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  address->storage.ss_family = AF_UNIX;
  auto* const where = reinterpret_cast<sockaddr*>(&address->storage);
  Must(bind(listener.get(), where, sizeof(sa_family_t)) == 0 && listen(listener.get(), 256) == 0,
       "a socket listens");
  address->length = sizeof(address->storage);
  Must(getsockname(listener.get(), where, &address->length) == 0, "its name is known");
  return listener;
}

void Say(const Socket& socket, const std::string& words) {
  (void)send(socket.get(), words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void ReadAsRootInfo(Bytes& bytes) {
  HcclRootInfo blob{};
  const std::string said = bytes.Take(sizeof(blob.internal));
  std::copy(said.begin(), said.end(), blob.internal);
  RootInfo info;
  const Status status = ReadRootInfo(blob, &info);
  Must(status.ok() || status.code() == HCCL_E_PARA, "what is no root info is refused");
  MustSay(status, "with words");
  if (!status.ok()) return;
  Must(!info.addresses.empty(), "a root info has addresses");
  for (const Address& address : info.addresses) {
    Must(address.Text().size() > 2 && address.length <= sizeof(address.storage), "an address");
  }
}

constexpr uint32_t kRoot = 0;

std::string HelloOf(const Nonce& nonce, uint32_t ranks, uint32_t rank, const std::string& address) {
  Hello hello{};
  std::memcpy(hello.magic, kHelloMagic, sizeof(kHelloMagic));
  hello.version = kRendezvousVersion;
  hello.ranks = ranks;
  hello.rank = rank;
  hello.address_bytes = static_cast<uint32_t>(address.size());
  hello.nonce = nonce;
  return std::string(reinterpret_cast<const char*>(&hello), sizeof(hello)) + address;
}

/// Guests that say anything, and greetings of which one byte is another.
std::vector<Socket> SendGuests(Bytes& bytes, const Address& root, const Nonce& nonce,
                               uint32_t ranks) {
  std::vector<Socket> guests;
  while (bytes.More() && guests.size() < 12) {
    Socket guest = ConnectTo(root, std::chrono::steady_clock::now() + seconds(1));
    Must(static_cast<bool>(guest), "a guest is connected");
    const uint32_t kind = bytes.Below(4);
    const uint32_t rank = bytes.Below(6), length = bytes.Below(64);
    std::string words = HelloOf(nonce, ranks, rank, bytes.Take(length));
    if (kind == 0) words = bytes.Take(bytes.Below(128));
    if (kind == 1) {
      char& other = words[bytes.Below(sizeof(Hello))];
      other = static_cast<char>(bytes.Below(256));
    }
    if (kind == 2) words.resize(bytes.Below(static_cast<uint32_t>(words.size())));
    Say(guest, words);
    if (bytes.Below(2) == 0) guests.push_back(std::move(guest));  // else it is gone at once
  }
  return guests;
}

/// Comes as the ranks, again and again, until all have met.
void ComeAsRanks(const Address& root, const Nonce& nonce, uint32_t ranks,
                 const std::atomic<bool>& met) {
  std::vector<Socket> come;
  while (!met.load()) {
    for (uint32_t rank = 1; rank < ranks; ++rank) {
      Socket socket = ConnectTo(root, std::chrono::steady_clock::now() + seconds(1));
      if (socket) Say(socket, HelloOf(nonce, ranks, rank, std::to_string(rank)));
      come.push_back(std::move(socket));
    }
    for (int i = 0; i < 20 && !met.load(); ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
}

void Receive(Bytes& bytes) {
  const uint32_t ranks = 2 + bytes.Below(3);
  Nonce nonce;
  nonce.fill(0x6e);
  Address root;
  const Socket listener = ListenHere(&root);
  std::vector<Socket> guests = SendGuests(bytes, root, nonce, ranks);
  std::atomic<bool> met{false};
  std::thread others([&] {
    // Guests that said that they were ranks keep their seats until they go.
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    guests.clear();
    ComeAsRanks(root, nonce, ranks, met);
  });
  Meeting meeting;
  Reception reception(nonce, ranks, kRoot, "root");
  const Status status = reception.Receive(listener, seconds(10), &meeting);
  met.store(true);
  others.join();
  Must(status.ok(), "the ranks meet", status.code());
  Must(meeting.addresses.size() == ranks && meeting.sockets.size() == ranks, "all of them");
  Must(meeting.addresses[kRoot] == "root" && !meeting.sockets[kRoot], "the root itself, too");
  for (uint32_t rank = 1; rank < ranks; ++rank) {
    Must(static_cast<bool>(meeting.sockets[rank]), "each by a socket");
    Must(meeting.addresses[rank].size() < 64, "with the address that it said");
  }
}

/// The root's answer to a rank that comes.
void ComeToRoot(Bytes& bytes) {
  const uint32_t ranks = 2 + bytes.Below(3);
  const bool whole = bytes.Below(2) == 0;
  RootInfo info;
  Address& root = info.addresses.emplace_back();
  const Socket listener = ListenHere(&root);
  Welcome welcome{};
  std::memcpy(welcome.magic, kWelcomeMagic, sizeof(kWelcomeMagic));
  welcome.version = kRendezvousVersion;
  welcome.code = bytes.Below(3);
  welcome.root_rank = bytes.Below(5);
  std::string answer = bytes.Rest();
  welcome.bytes = static_cast<uint32_t>(answer.size());
  const std::string start(reinterpret_cast<const char*>(&welcome), sizeof(welcome));
  if (whole) answer.insert(0, start);
  std::thread other([&] {
    pollfd descriptor = {listener.get(), POLLIN, 0};
    poll(&descriptor, 1, 1000);
    const Socket socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char hello[sizeof(Hello) + 4];
    (void)recv(socket.get(), hello, sizeof(hello), MSG_WAITALL);
    Say(socket, answer);
  });
  HcclEnvironment environment;
  environment.connect_timeout = seconds(1);
  Meeting meeting;
  const Status status = Meet(environment, info, ranks, 1, "rank", &meeting);
  other.join();
  MustSay(status, "an answer that is none is refused with words");
  if (!status.ok()) return;
  Must(meeting.addresses.size() == ranks && meeting.root_rank < ranks, "all ranks are known");
  Must(static_cast<bool>(meeting.sockets[meeting.root_rank]), "and the root is");
}

/// News, in parts, on the lines of the root or of another rank.
void HearNews(Bytes& bytes) {
  const uint32_t ranks = 2 + bytes.Below(3);
  const bool root = bytes.Below(2) == 0;
  const uint32_t rank = root ? kRoot : 1;
  Meeting meeting;
  meeting.root = root;
  meeting.sockets.resize(ranks);
  std::vector<Socket> others(ranks);
  std::vector<size_t> said(ranks, 0);
  for (uint32_t peer = 0; peer < ranks; ++peer) {
    if (peer == rank || (!root && peer != kRoot)) continue;
    int ends[2] = {-1, -1};
    Must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "a line");
    meeting.sockets[peer] = Socket(ends[0]);
    others[peer] = Socket(ends[1]);
  }
  Notices notices(rank, std::move(meeting));
  std::vector<PeerState> states(ranks, PeerState::kAlive);
  while (bytes.More()) {
    const uint32_t peer = bytes.Below(ranks);
    const std::string words = bytes.Take(bytes.Below(24));
    said[peer] += words.size();
    Say(others[peer], words);
    if (bytes.Below(8) == 7) others[peer] = Socket();
    notices.Read();
    for (uint32_t each = 0; each < ranks; ++each) {
      const PeerState state = notices.state(each);
      Must(each != rank || state == PeerState::kAlive, "of itself a rank hears nothing");
      Must(states[each] == PeerState::kAlive || state == states[each], "what is known stays");
      states[each] = state;
      const bool silent = root && said[each] < 16 && others[each];
      Must(!silent || state == PeerState::kAlive, "of a rank that has said nothing");
    }
  }
  MustSay(notices.Failure(), "whoever has failed is named");
  Must(!notices.Late(seconds(1), seconds(2)).ok(), "and somebody is late");
  notices.Fail(Status(HCCL_E_MEMORY, "out of memory"));
  notices.PrepareToLeave();
  (void)notices.others_prepare();
  notices.GiveUp(Status(HCCL_E_MEMORY, "out of memory"));
  Must(!notices.cause().words.empty(), "who gives up says why");
  notices.Read();
  notices.Leave();
  notices.Close();
  Must(!notices.relays(), "after that nothing is passed on");
}

/// What another rank says that it calls, and what rides with it: the same call alone is written to
/// this rank's memory.
void ReadAsCall(Bytes& bytes) {
  constexpr size_t kMost = 64;
  constexpr auto kKinds = static_cast<uint32_t>(CallKind::kCount);
  constexpr std::byte kBefore{0x6e};
  const uint64_t size = bytes.Below(kMost);
  const CallHeader own = {static_cast<CallKind>(bytes.Below(kKinds)),
                          bytes.Below(20),
                          bytes.Below(6),
                          bytes.Below(6),
                          size,
                          size};
  const bool before = bytes.Below(2) == 0;
  std::vector<std::byte> sent(kMost), received(kMost, kBefore);
  Plan plan;
  plan.steps.emplace_back().moves = {SendTo(1, sent.data(), size),
                                     ReceiveFrom(1, received.data(), size)};
  AddAgreements({2, 0}, {{1, own}}, before, &plan);
  const auto& moves = plan.steps[0].moves;
  const auto comes = std::ranges::find_if(moves, [](const Move& move) { return move.receives; });
  Must(comes != moves.end() && comes->bytes >= sizeof(own) + size, "there is room for it");
  CallHeader same_call = own;
  if (own.kind == CallKind::kAllToAll) std::swap(same_call.type, same_call.op);  // what it sends
  CallHeader theirs = same_call;
  if (bytes.More()) {
    const uint32_t place = bytes.Below(sizeof(theirs));
    reinterpret_cast<char*>(&theirs)[place] = static_cast<char>(bytes.Below(256));
  }
  std::string rides = bytes.Take(comes->bytes - sizeof(theirs));
  rides.resize(comes->bytes - sizeof(theirs));
  std::memcpy(comes->data, &theirs, sizeof(theirs));
  std::memcpy(comes->data + sizeof(theirs), rides.data(), rides.size());
  const Status status = plan.steps[0].work();
  const bool same = std::memcmp(&theirs, &same_call, sizeof(same_call)) == 0;
  Must(status.ok() == same, "another call is refused, and no other", status.code());
  MustSay(status, "with words");
  Must(!same || std::memcmp(received.data(), rides.data(), size) == 0, "what rode is there");
  const auto untouched = received.begin() + static_cast<ptrdiff_t>(same ? size : 0);
  Must(std::all_of(untouched, received.end(), [](std::byte one) { return one == kBefore; }),
       "and nothing else");
}

}  // namespace
}  // namespace openaclnn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace openaclnn::fuzz;
  constexpr void (*kPlaces[])(Bytes&) = {ReadAsRootInfo, Receive, ComeToRoot, HearNews, ReadAsCall};
  Bytes bytes(data, size);
  kPlaces[bytes.Below(std::size(kPlaces))](bytes);
  return 0;
}
