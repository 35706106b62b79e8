// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes: values, order, who is missing, what is left behind.
#include "hccl/processes/processes.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "ascendcl/fixture.h"
#include "hccl/hccl_types.h"
#include "hccl/processes/networks.h"

namespace openaclnn {
namespace {

using ranks::Processes;

void ExpectDone(const char* role, uint32_t size) {
  SCOPED_TRACE(testing::Message() << role << ", " << size << " ranks");
  Processes processes(role, size);
  std::chrono::seconds time{60 + 2 * ranks::Times("OPENACLNN_TEST_COMMUNICATORS", 0)};
  for (uint32_t rank = 0; rank < size; ++rank) {
    const int code = processes.Await(rank, time);
    EXPECT_EQ(code, 0) << "rank " << rank;
    EXPECT_EQ(processes.Said(rank), "") << "rank " << rank;
    if (code != 0) time = std::chrono::seconds(10);  // the others may say why
  }
}

TEST(ProcessesTest, ValuesAreThoseOfTheTree) {
  for (const uint32_t size : {2u, 3u}) ExpectDone("values", size);
}

TEST(ProcessesTest, ValuesOfMoreRanksThanProcessors) {
  for (const uint32_t size : {4u, 8u}) ExpectDone("few", size);
}

TEST(ProcessesTest, ValuesAreTheSameOverTcp) {
  const Variable tcp("UCX_TLS", "tcp,self");
  ExpectDone("values", 3);
}

TEST(ProcessesTest, NoInterfaceIsNeededOnOneMachine) {
  if (ranks::CountNetworks() != 0) GTEST_SKIP() << "ranks have networks of their own";
  const bool ran = ranks::WithinLoopback(false, [] { ExpectDone("few", 1); });
  if (!ran) GTEST_SKIP() << "LEFT OUT: no network may be made here";
  EXPECT_TRUE(ranks::WithinLoopback(true, [] { ExpectDone("few", 2); }));
}

TEST(ProcessesTest, TwoCommunicatorsInOppositeOrderNeedOneThread) {
  const Variable threads("OPENACLNN_NUM_THREADS", "1");
  ExpectDone("opposite", 2);
  ExpectDone("opposite", 3);
}

TEST(ProcessesTest, ManyCommunicatorsLeaveNothing) { ExpectDone("many", 2); }

TEST(ProcessesTest, ADifferenceIsNamedAndLeavesNothing) { ExpectDone("differ", 2); }

/// The same over shared memory and TCP.
void ExpectDoneBothWays(const char* role, uint32_t size) {
  for (const char* const way : {static_cast<const char*>(nullptr), "tcp,self"}) {
    const Variable tls("UCX_TLS", way);
    ExpectDone(role, size);
  }
}

TEST(ProcessesTest, WhoDestroysAFreshCommunicatorHasLeftAndNothingIsKept) {
  ExpectDoneBothWays("fresh", 3);
}

TEST(ProcessesTest, WhoDestroysFirstNeedsNoCallOfTheOthers) { ExpectDoneBothWays("first", 2); }

TEST(ProcessesTest, WhoEndsWhileItDestroysHasNotDied) {
  for (int i = 0; i < 3; ++i) ExpectDoneBothWays("ending", 2);
}

TEST(ProcessesTest, AChildOfForkHasNoRanks) { ExpectDone("forked", 2); }

TEST(ProcessesTest, NothingIsKeptOfWhatATimeOutHasEnded) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "1");
  ExpectDoneBothWays("too_late", 2);
}

TEST(ProcessesTest, NothingIsKeptOfTheDead) { ExpectDoneBothWays("outlive", 1); }

TEST(ProcessesTest, TooFewDescriptorsAreToldBeforeUcxNeedsThem) {
  for (const uint32_t size : {2u, 8u}) ExpectDoneBothWays("scarce", size);
}

TEST(ProcessesTest, WhoExitsHasNotDied) { ExpectDone("leave", 3); }

// The second that an exit may take is not one for each communicator.
TEST(ProcessesTest, AnExitWaitsForAllCommunicatorsAtOnce) {
  Processes processes("unheard", 2);
  ASSERT_TRUE(processes.Reached("called", std::chrono::seconds(20))) << processes.Said(1);
  processes.Stop(1);
  const auto before = Processes::Clock::now();
  processes.Make("go");
  ASSERT_TRUE(processes.Reached("exits", std::chrono::seconds(20))) << processes.Said(0);
  const auto begin = Processes::Clock::now();
  EXPECT_EQ(processes.Await(0), 0) << processes.Said(0);
  const auto end = Processes::Clock::now();
  EXPECT_GT(end - before, std::chrono::milliseconds(1000)) << "all has been received";
  EXPECT_LT(end - begin, std::chrono::milliseconds(3500)) << "four would take four seconds";
}

TEST(ProcessesTest, WhoEndsAtOnceWithoutCommunicatorsHasNotDied) { ExpectDone("gone", 3); }

TEST(ProcessesTest, TheRootSaysWhetherCallsAreCompared) { ExpectDone("levels", 2); }

TEST(ProcessesTest, TheEnvironmentIsLeftAndComesFirst) { ExpectDoneBothWays("inherit", 2); }

TEST(ProcessesTest, WhoWaitsWhileTheProcessEndsIsTold) { ExpectDone("quit", 3); }

// Before it meets the others, which hear of it at once.
TEST(ProcessesTest, WhereTheRootFailsTheOthersAreTold) {
  const auto begin = Processes::Clock::now();
  Processes processes("rootless", 3);
  for (const uint32_t rank : {1u, 2u}) {
    EXPECT_EQ(processes.Await(rank), HCCL_E_REMOTE) << processes.Said(rank);
    EXPECT_NE(processes.Said(rank).find("rank 0, the root's, has failed (UCX"), std::string::npos)
        << processes.Said(rank);
  }
  EXPECT_EQ(processes.Await(0), HCCL_E_UNAVAIL) << processes.Said(0);
  EXPECT_NE(processes.Said(0).find("UCX_TLS is 'bogus'"), std::string::npos) << processes.Said(0);
  EXPECT_LT(Processes::Clock::now() - begin, std::chrono::seconds(20));
}

TEST(ProcessesTest, NoRoomInSharedMemoryIsNamed) {
  if (ranks::CountNetworks() != 0) GTEST_SKIP() << "ranks share no memory";
  Processes processes("cramped", 2);
  const int code = processes.Await(0);
  if (code == 77) GTEST_SKIP() << "LEFT OUT: nothing may be mounted here";
  EXPECT_EQ(code, HCCL_E_NETWORK) << processes.Said(0);
  EXPECT_NE(processes.Said(0).find("and /dev/shm has 1048576 bytes free"), std::string::npos)
      << processes.Said(0);
  EXPECT_EQ(processes.Await(1), HCCL_E_REMOTE) << processes.Said(1);
}

TEST(ProcessesTest, WhoDoesNotComeIsNamed) {
  const Variable timeout("HCCL_CONNECT_TIMEOUT", "1");
  Processes processes("missing", 3, 2);
  for (const uint32_t rank : {0u, 1u}) {
    EXPECT_EQ(processes.Await(rank), HCCL_E_TIMEOUT) << processes.Said(rank);
    EXPECT_NE(processes.Said(rank).find("rank 2 of 3 has not come in 1 s"), std::string::npos)
        << processes.Said(rank);
  }
}

}  // namespace
}  // namespace openaclnn

int main(int argc, char** argv) {
  if (argc == 4) {
    if (const auto role = openaclnn::ranks::FindRole(argv[1])) {
      return role(static_cast<uint32_t>(std::atoi(argv[2])),
                  static_cast<uint32_t>(std::atoi(argv[3])));
    }
  }
  testing::InitGoogleTest(&argc, argv);
  const std::string why = openaclnn::ranks::WhyNoProcesses();
  if (why.empty()) return RUN_ALL_TESTS();
  std::cout << "ranks of processes: " << why << "\n";
  return 0;
}
