// SPDX-License-Identifier: Apache-2.0
// The rendezvous from both sides: roots that answer anything, and guests of all kinds at a root.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hccl/hccl_types.h"
#include "hccl/rendezvous/greeting.h"
#include "hccl/rendezvous/reception.h"
#include "hccl/rendezvous/rendezvous.h"
#include "hccl/rendezvous/socket.h"

namespace openaclnn {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr uint32_t kRanks = 3;

Deadline Soon() { return steady_clock::now() + seconds(10); }

/// A port of this machine where somebody listens.
class Place {
 public:
  Place() : addresses_(1) {
    HcclEnvironment environment;
    environment.address = "127.0.0.1";
    addresses_.clear();
    EXPECT_TRUE(FindAddresses(environment, &addresses_).ok());
    const Status status = Listen(environment, &addresses_, &listener_);
    EXPECT_TRUE(status.ok()) << status.text();
  }

  const std::vector<Address>& addresses() const { return addresses_; }
  const Socket& listener() const { return listener_; }
  void Close() { listener_ = Socket(); }

 private:
  std::vector<Address> addresses_;
  Socket listener_;
};

std::string Bytes(const void* object, size_t bytes) {
  return std::string(static_cast<const char*>(object), bytes);
}

Welcome Greets(uint32_t code, uint32_t root_rank, size_t bytes) {
  Welcome welcome{};
  std::memcpy(welcome.magic, kWelcomeMagic, sizeof(kWelcomeMagic));
  welcome.version = kRendezvousVersion;
  welcome.code = code;
  welcome.root_rank = root_rank;
  welcome.bytes = static_cast<uint32_t>(bytes);
  return welcome;
}

class RootTest : public testing::Test {
 protected:
  /// What a rank is told that comes to a root which says so, and closes or stays.
  Status Come(const std::string& says, bool stays = false, seconds timeout = seconds(1)) {
    HcclEnvironment environment;
    environment.connect_timeout = timeout;
    RootInfo info;
    info.addresses = place_.addresses();
    std::thread root([&] {
      pollfd ready = {place_.listener().get(), POLLIN, 0};
      poll(&ready, 1, 10'000);
      const Socket rank(accept4(place_.listener().get(), nullptr, nullptr, SOCK_CLOEXEC));
      Hello hello;
      EXPECT_TRUE(ReadAll(rank, &hello, sizeof(hello), Soon()));
      EXPECT_EQ(hello.rank, 1U);
      char address[7];
      EXPECT_TRUE(ReadAll(rank, address, sizeof(address), Soon()));
      EXPECT_TRUE(WriteAll(rank, says.data(), says.size(), Soon()));
      char more;
      if (stays) {
        EXPECT_FALSE(ReadAll(rank, &more, 1, Soon())) << "until the rank goes";
      }
    });
    const Status status = Meet(environment, info, kRanks, 1, "address", &meeting_);
    root.join();
    return status;
  }
  Status ComeToWelcome(const Welcome& welcome, const std::string& body = {}) {
    return Come(Bytes(&welcome, sizeof(welcome)) + body);
  }

  Place place_;
  Meeting meeting_;
};

void ExpectSays(const Status& status, int code, const std::string& says) {
  EXPECT_EQ(status.code(), code) << status.text();
  EXPECT_NE(status.text().find(says), std::string::npos) << status.text();
}

TEST_F(RootTest, AWholeAnswerSeatsTheRank) {
  std::string body;
  for (const std::string address : {"zero", "", "two"}) {
    const auto bytes = static_cast<uint32_t>(address.size());
    body += Bytes(&bytes, sizeof(bytes)) + address;
  }
  const Status status = ComeToWelcome(Greets(0, 2, body.size()), body);
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(meeting_.addresses, (std::vector<std::string>{"zero", "", "two"}));
  EXPECT_EQ(meeting_.root_rank, 2U);
  EXPECT_FALSE(meeting_.root);
  EXPECT_TRUE(static_cast<bool>(meeting_.sockets[2]));
  EXPECT_FALSE(static_cast<bool>(meeting_.sockets[0]));
}

TEST_F(RootTest, ARefusalIsPassedOn) {
  const std::string words = "rank value is 1, which another process has come as";
  ExpectSays(ComeToWelcome(Greets(HCCL_E_PARA, 0, words.size()), words), HCCL_E_PARA, words);
  const std::string forged = "no\nERROR rank 0";
  ExpectSays(ComeToWelcome(Greets(HCCL_E_PARA, 0, forged.size()), forged), HCCL_E_PARA,
             "no\\x0aERROR rank 0");
}

TEST_F(RootTest, AnswersOfOthersAreToldApart) {
  const char* const stranger = "not one of libhccl.so";
  ExpectSays(Come(std::string(sizeof(Welcome), 'x')), HCCL_E_TCP_CONNECT, stranger);
  ExpectSays(ComeToWelcome(Greets(0, kRanks, 0)), HCCL_E_TCP_CONNECT, stranger);
  ExpectSays(ComeToWelcome(Greets(0, 0, UINT32_MAX)), HCCL_E_TCP_CONNECT, stranger);
  ExpectSays(ComeToWelcome(Greets(1, 0, kMaxRefusalBytes + 1)), HCCL_E_TCP_CONNECT, stranger);
  ExpectSays(ComeToWelcome(Greets(1, 0, 0)), HCCL_E_TCP_CONNECT, stranger);
}

TEST_F(RootTest, AnswersThatAreCutAreTold) {
  ExpectSays(Come("openaclnn"), HCCL_E_TCP_CONNECT, "without a whole answer");
  ExpectSays(ComeToWelcome(Greets(0, 0, 9), "short"), HCCL_E_TCP_CONNECT, "without a whole answer");
  const char* const cut = "list of addresses is cut short";
  const uint32_t lengths[] = {0, 0, 1};  // the last with nothing behind it
  const std::string two = Bytes(lengths, 8), three = Bytes(lengths, 12);
  ExpectSays(ComeToWelcome(Greets(0, 0, 8), two), HCCL_E_INTERNAL, cut);
  ExpectSays(ComeToWelcome(Greets(0, 0, 12), three), HCCL_E_INTERNAL, cut);
  ExpectSays(ComeToWelcome(Greets(0, 0, 14), three + "12"), HCCL_E_INTERNAL, cut);
}

TEST_F(RootTest, OneThatSaysNothingIsWaitedForAsLongAsAsked) {
  ExpectSays(Come("", true), HCCL_E_TIMEOUT, "root has not answered in 1 s");
  ExpectSays(Come("openaclnn", true), HCCL_E_TIMEOUT, "root has not answered in 1 s");
}

// The root's answer comes by its own time-out, and that of one that began later a little later.
TEST_F(RootTest, OneThatSaysNothingIsNotWaitedForTwice) {
  const auto begin = steady_clock::now();
  ExpectSays(Come("", true, seconds(4)), HCCL_E_TIMEOUT, "root has not answered in 4 s");
  const auto took = steady_clock::now() - begin;
  EXPECT_GE(took, seconds(6));
  EXPECT_LT(took, std::chrono::milliseconds(7500));
}

TEST_F(RootTest, WhereNobodyListensTheAddressesAreNamed) {
  HcclEnvironment environment;
  environment.connect_timeout = seconds(1);
  RootInfo info;
  info.addresses = {place_.addresses()[0], place_.addresses()[0]};
  place_.Close();
  const std::string at = info.addresses[0].Text();
  ExpectSays(Meet(environment, info, kRanks, 1, "address", &meeting_), HCCL_E_TCP_CONNECT,
             "root cannot be reached at " + at + ", " + at + ", expected");
}

/// The root is rank 0 of three; the others are sockets of the test.
class GuestTest : public testing::Test {
 protected:
  GuestTest() { nonce_.fill(7); }
  ~GuestTest() override {
    if (root_.joinable()) root_.join();
  }

  void Open(seconds timeout = seconds(10)) {
    root_ = std::thread([this, timeout] {
      Reception reception(nonce_, kRanks, 0, "root");
      status_ = reception.Receive(place_.listener(), timeout, &meeting_);
    });
  }
  Status Close() {
    root_.join();
    return status_;
  }

  Socket Come(const std::string& says) {
    Socket guest = ConnectTo(place_.addresses()[0], Soon());
    EXPECT_TRUE(static_cast<bool>(guest));
    EXPECT_TRUE(WriteAll(guest, says.data(), says.size(), Soon()));
    return guest;
  }
  std::string Says(uint32_t rank, const std::string& address,
                   const std::function<void(Hello*)>& change = {}) const {
    Hello hello{};
    std::memcpy(hello.magic, kHelloMagic, sizeof(kHelloMagic));
    hello.version = kRendezvousVersion;
    hello.ranks = kRanks;
    hello.rank = rank;
    hello.address_bytes = static_cast<uint32_t>(address.size());
    hello.nonce = nonce_;
    if (change) change(&hello);
    return Bytes(&hello, sizeof(hello)) + address;
  }
  /// The code, and what comes with it.
  static std::pair<uint32_t, std::string> Hear(const Socket& guest) {
    Welcome welcome{};
    if (!ReadAll(guest, &welcome, sizeof(welcome), Soon())) return {UINT32_MAX, "sent away"};
    std::string body(welcome.bytes, '\0');
    EXPECT_TRUE(ReadAll(guest, body.data(), body.size(), Soon()));
    return {welcome.code, body};
  }
  void ExpectRefused(const std::string& hello, const std::string& says) {
    const auto [code, words] = Hear(Come(hello));
    EXPECT_EQ(code, static_cast<uint32_t>(HCCL_E_PARA)) << words;
    EXPECT_NE(words.find(says), std::string::npos) << words;
  }
  /// The others come, and all meet.
  void ExpectMeet() {
    const Socket one = Come(Says(1, "one")), two = Come(Says(2, "two"));
    EXPECT_EQ(Hear(one).first, 0U);
    EXPECT_EQ(Hear(two).first, 0U);
    const Status status = Close();
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(meeting_.addresses, (std::vector<std::string>{"root", "one", "two"}));
  }

  Nonce nonce_;
  Place place_;
  Meeting meeting_;

 private:
  std::thread root_;
  Status status_;
};

TEST_F(GuestTest, OthersAreRefusedWithWords) {
  Open();
  ExpectRefused(
      Says(1, "", [](Hello* hello) { hello->version = 2; }),
      "version of the rank's libhccl.so is 2, expected " + std::to_string(kRendezvousVersion));
  ExpectRefused(Says(1, "", [](Hello* hello) { hello->nonce[3] = 8; }), "of another communicator");
  ExpectRefused(Says(1, "", [](Hello* hello) { hello->ranks = 4; }),
                "nRanks value of rank 1 is 4, expected 3 as on rank 0");
  ExpectRefused(Says(kRanks, ""), "rank value is 3 with an address of 0 bytes");
  ExpectRefused(Says(1, "", [](Hello* hello) { hello->address_bytes = kMaxAddressBytes + 1; }),
                "rank value is 1 with an address of 65537 bytes");
  ExpectRefused(Says(0, ""), "rank value is 0, which another process has come as");
  EXPECT_EQ(Hear(Come("GET / HTTP/1.1\r\n\r\n")).second, "sent away");
  ExpectMeet();
}

TEST_F(GuestTest, WhatComesInPiecesIsWaitedFor) {
  Open();
  const std::string hello = Says(1, "one");
  const Socket one = Come("");
  for (const char byte : hello) {
    EXPECT_TRUE(WriteAll(one, &byte, 1, Soon()));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const Socket two = Come(Says(2, "two"));
  EXPECT_EQ(Hear(one).first, 0U);
  EXPECT_EQ(Hear(two).first, 0U);
  EXPECT_TRUE(Close().ok());
  EXPECT_EQ(meeting_.addresses, (std::vector<std::string>{"root", "one", "two"}));
}

TEST_F(GuestTest, WhoLeavesIsWaitedForAgain) {
  Open();
  { const Socket gone = Come(Says(1, "gone")); }
  { const Socket silent = Come(""); }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ExpectMeet();
}

// The oldest of those that have not said who they are makes room.
TEST_F(GuestTest, ManySilentOnesDelayNobody) {
  Open();
  std::vector<Socket> silent;
  const auto before = steady_clock::now();
  for (int i = 0; i < 130; ++i) silent.push_back(Come("openaclnn"));
  EXPECT_EQ(Hear(silent[0]).second, "sent away");
  EXPECT_EQ(Hear(silent[1]).second, "sent away");
  EXPECT_LT(steady_clock::now() - before, seconds(4)) << "after 5 s all silent ones are";
  ExpectMeet();
}

TEST_F(GuestTest, WhereTheRootFailsAllAreTold) {
  constexpr seconds kLong{20};
  const auto begin = steady_clock::now();
  std::thread root([&] {
    Reception reception(nonce_, kRanks, 0, "");
    reception.RefuseAll(place_.listener(), Status(HCCL_E_UNAVAIL, "no UCX, expected one"), kLong);
  });
  for (const uint32_t rank : {1u, 2u}) {
    const auto [code, words] = Hear(Come(Says(rank, "address")));
    EXPECT_EQ(code, static_cast<uint32_t>(HCCL_E_REMOTE));
    EXPECT_NE(words.find("rank 0, the root's, has failed (no UCX, expected one)"), words.npos);
  }
  root.join();
  EXPECT_LT(steady_clock::now() - begin, kLong);
}

TEST_F(GuestTest, WhoIsMissingIsNamedWithWhoWasRefused) {
  Open(seconds(1));
  const Socket one = Come(Says(1, "one"));
  ExpectRefused(Says(2, "", [](Hello* hello) { hello->ranks = 2; }), "nRanks value of rank 2 is 2");
  const Status status = Close();
  ExpectSays(status, HCCL_E_TIMEOUT, "rank 2 of 3 has not come in 1 s");
  ExpectSays(status, HCCL_E_TIMEOUT, "; refused was one whose nRanks value of rank 2 is 2");
  const auto [code, words] = Hear(one);
  EXPECT_EQ(code, static_cast<uint32_t>(HCCL_E_TIMEOUT));
  EXPECT_EQ(words, status.text()) << "those that came are told the same";
}

}  // namespace
}  // namespace openaclnn
