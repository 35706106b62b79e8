// SPDX-License-Identifier: Apache-2.0
// Notices of ranks that are sockets of the test: what each says, and what the others hear of it.
#include "hccl/notices.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace openaclnn {
namespace {

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
  all[2]->GiveUp();
  all[0]->Read();
  all[3]->Read();
  for (const uint32_t rank : {0u, 3u}) {
    EXPECT_EQ(all[rank]->state(1), PeerState::kLeft);
    EXPECT_EQ(all[rank]->state(2), PeerState::kGaveUp);
  }
  all[2]->Read();
  EXPECT_EQ(all[2]->state(2), PeerState::kAlive) << "of itself a rank hears nothing";
  EXPECT_TRUE(all[0]->relays());
  all[0]->Close();
  all[3]->Read();
  EXPECT_EQ(all[3]->state(0), PeerState::kDied);
  EXPECT_EQ(all[3]->state(1), PeerState::kLeft) << "what is known stays";
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

}  // namespace
}  // namespace openaclnn
