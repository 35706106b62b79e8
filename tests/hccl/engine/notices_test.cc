// SPDX-License-Identifier: Apache-2.0
// Notices of ranks that are sockets of the test: what each says, and what the others hear of it.
#include "hccl/engine/notices.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hccl/hccl_types.h"
#include "tests/support/short_memory.h"

namespace openaclnn {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;

/// The notices of all ranks, of which the first is the root's.
std::vector<std::unique_ptr<Notices>> Connected(uint32_t ranks) {
  std::vector<Meeting> meetings(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    meetings[rank].sockets.resize(ranks);
    meetings[rank].root = rank == 0;
    if (rank == 0) continue;
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    meetings[0].sockets[rank] = Socket(ends[0]);
    meetings[rank].sockets[0] = Socket(ends[1]);
  }
  std::vector<std::unique_ptr<Notices>> all;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    all.push_back(std::make_unique<Notices>(rank, std::move(meetings[rank])));
  }
  return all;
}

TEST(NoticesTest, TheRootPassesOnWhatItHears) {
  const auto all = Connected(4);
  all[1]->Leave();
  all[1]->Close();
  all[2]->GiveUp(Status(HCCL_E_TIMEOUT, "rank 3 is late,\nexpected it"));
  all[0]->Read();
  all[3]->Read();
  for (const uint32_t rank : {0u, 3u}) {
    EXPECT_EQ(all[rank]->state(1), PeerState::kLeft);
    EXPECT_EQ(all[rank]->state(2), PeerState::kGaveUp);
    EXPECT_EQ(all[rank]->cause().rank, 2u);
    EXPECT_EQ(all[rank]->cause().words, "rank 3 is late,\\x0aexpected it");
  }
  all[2]->Read();
  EXPECT_EQ(all[2]->state(2), PeerState::kAlive) << "of itself a rank hears nothing";
  EXPECT_TRUE(all[0]->relays());
  all[0]->Close();
  all[3]->Read();
  EXPECT_EQ(all[3]->state(0), PeerState::kDied);
  EXPECT_EQ(all[3]->state(1), PeerState::kLeft) << "what is known stays";
}

TEST(NoticesTest, TheyAreHeardWithoutMemory) {
  const auto all = Connected(3);
  const std::string words(300, 'w');
  all[1]->GiveUp(Status(HCCL_E_TIMEOUT, words));
  {
    const test::ShortMemory none(
        {0, test::Shortage::Fails::kFromThenOn, test::Shortage::Threads::kThis});
    all[0]->Read();
    all[2]->Read();
  }
  for (const uint32_t rank : {0u, 2u}) EXPECT_EQ(all[rank]->state(1), PeerState::kGaveUp) << rank;
  EXPECT_EQ(all[0]->cause().words, "out of memory");
  EXPECT_EQ(all[2]->cause().words, "out of memory");
}

// Under ThreadSanitizer: a line closes while a thread that ends the process says that it leaves.
TEST(NoticesTest, AnExitMaySpeakWhileTheOthersAreRead) {
  for (int round = 0; round < 20; ++round) {
    const auto all = Connected(3);
    std::thread reader([&] {
      while (all[0]->state(1) == PeerState::kAlive) all[0]->Read();
    });
    std::thread leaver([&] { all[1]->Close(); });
    all[0]->Leave();
    reader.join();
    leaver.join();
    all[2]->Read();
    EXPECT_EQ(all[2]->state(0), PeerState::kLeft);
    EXPECT_EQ(all[2]->state(1), PeerState::kDied);
  }
}

// Until it has left, or died.
TEST(NoticesTest, WhoIsAboutToLeaveIsKnown) {
  const auto all = Connected(4);
  const auto expect = [&](bool about) {
    for (const uint32_t rank : {0u, 2u}) {
      all[rank]->Read();
      EXPECT_EQ(all[rank]->others_prepare(), about) << rank;
    }
  };
  for (const uint32_t rank : {1u, 3u}) all[rank]->PrepareToLeave();
  all[1]->PrepareToLeave();
  expect(true);
  EXPECT_FALSE(all[3]->others_prepare()) << "nothing has been read";
  for (const uint32_t rank : {0u, 2u}) {
    for (const uint32_t peer : {1u, 3u}) EXPECT_EQ(all[rank]->fate(peer), PeerState::kLeft) << rank;
    EXPECT_EQ(all[rank]->state(1), PeerState::kAlive) << "it is about to";
    EXPECT_EQ(all[rank]->fate(2 - rank), PeerState::kAlive) << "rank " << 2 - rank << " stays";
  }
  all[1]->Leave();
  expect(true);
  all[3]->Close();
  expect(false);
  EXPECT_EQ(all[2]->fate(3), PeerState::kDied) << "it has not said that it left";
  all[0]->Close();
  EXPECT_EQ(all[0]->fate(1), PeerState::kLeft) << "what was known stays";
}

void ExpectSays(const Status& status, int code, const std::string& says) {
  EXPECT_EQ(status.code(), code) << status.text();
  EXPECT_NE(status.text().find(says), std::string::npos) << status.text();
}

/// News reach the root, and then the others.
void ReadAll(const std::vector<std::unique_ptr<Notices>>& all) {
  for (const auto& notices : all) notices->Read();
}

TEST(NoticesTest, TheFirstFailureIsWhatAllSay) {
  const auto all = Connected(4);
  all[1]->Fail(Status(HCCL_E_TIMEOUT, "rank 2 is late, expected it"));
  all[0]->Read();
  all[3]->Fail(Status(HCCL_E_REMOTE, "rank 1 is lost, expected it"));
  ReadAll(all);
  for (const uint32_t rank : {0u, 1u, 2u}) {
    ExpectSays(all[rank]->Failure(), HCCL_E_TIMEOUT, "rank 2 is late, expected it");
  }
}

TEST(NoticesTest, ARanksOwnFaultIsSaidOfIt) {
  const auto all = Connected(3);
  all[0]->Fail(Status(HCCL_E_MEMORY, "out of memory"));
  ReadAll(all);
  ExpectSays(all[0]->Failure(), HCCL_E_MEMORY, "out of memory");
  for (const uint32_t rank : {1u, 2u}) {
    ExpectSays(all[rank]->Failure(), HCCL_E_REMOTE, "rank 0 has failed (out of memory), expected");
  }
}

TEST(NoticesTest, WhoDiesIsNamedBeforeWhatFollows) {
  const auto all = Connected(3);
  all[0]->Close();
  all[2]->Read();
  ExpectSays(all[2]->Failure(), HCCL_E_REMOTE, "rank 0 has died or cannot be reached");
}

// The others wait for the root's word first.
TEST(NoticesTest, WhoIsSilentIsNamed) {
  const auto all = Connected(4);
  for (const uint32_t rank : {0u, 1u, 3u}) all[rank]->Arrive();
  ReadAll(all);
  EXPECT_EQ(all[0]->gatherings(), 0u);
  EXPECT_TRUE(all[0]->Late(seconds(7), milliseconds(900)).ok());
  ExpectSays(all[0]->Late(seconds(7), seconds(1)), HCCL_E_TIMEOUT,
             "rank 2 of 4 has come and not gone on in 7 s (HCCL_CONNECT_TIMEOUT)");
  EXPECT_TRUE(all[1]->Late(seconds(7), milliseconds(1900)).ok());
  ExpectSays(all[1]->Late(seconds(7), seconds(2)), HCCL_E_TIMEOUT, "rank 0 of 4 has come and not");
}

// One that says whom it misses is not silent, and nor is one of an earlier step.
TEST(NoticesTest, WhoMissesAnotherIsNotLateItself) {
  const auto all = Connected(4);
  all[1]->Miss(0);
  for (const auto& notices : all) notices->Arrive();
  ReadAll(all);
  for (const auto& notices : all) EXPECT_EQ(notices->gatherings(), 1u);
  for (const uint32_t rank : {0u, 3u}) all[rank]->Arrive();
  all[1]->Miss(2);
  ReadAll(all);
  EXPECT_TRUE(all[0]->Late(seconds(1), milliseconds(0)).ok()) << "rank 2 may speak";
  ExpectSays(all[0]->Late(seconds(1), seconds(1)), HCCL_E_TIMEOUT, "rank 2 of 4 has come and not");
  all[2]->Miss(1);
  ReadAll(all);
  ExpectSays(all[0]->Late(seconds(1), milliseconds(0)), HCCL_E_TIMEOUT,
             "rank 2 from rank 1, 1 from rank 2 is not reached in 1 s");
}

}  // namespace
}  // namespace openaclnn
