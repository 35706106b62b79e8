// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes: values, order, deaths, who is missing, what is left behind.
#include "hccl/processes.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "ascendcl/fixture.h"
#include "hccl/hccl_types.h"
#include "hccl/networks.h"

namespace openaclnn {
namespace {

using ranks::Processes;
using std::chrono::milliseconds;

constexpr milliseconds kStart{20000};

void ExpectDone(const char* role, uint32_t size) {
  SCOPED_TRACE(testing::Message() << role << ", " << size << " ranks");
  Processes processes(role, size);
  for (uint32_t rank = 0; rank < size; ++rank) {
    ASSERT_EQ(processes.Await(rank), 0) << "rank " << rank << ": " << processes.Said(rank);
    EXPECT_EQ(processes.Said(rank), "");
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

TEST(ProcessesTest, TwoCommunicatorsInOppositeOrderNeedOneThread) {
  const Variable threads("OPENACLNN_NUM_THREADS", "1");
  ExpectDone("opposite", 2);
  ExpectDone("opposite", 3);
}

TEST(ProcessesTest, ManyCommunicatorsLeaveNothing) { ExpectDone("many", 2); }

TEST(ProcessesTest, ADifferenceIsNamedAndLeavesNothing) { ExpectDone("differ", 2); }

TEST(ProcessesTest, WhoExitsHasNotDied) { ExpectDone("leave", 3); }

TEST(ProcessesTest, TheRootSaysWhetherCallsAreCompared) { ExpectDone("levels", 2); }

TEST(ProcessesTest, TheEnvironmentIsLeftAndComesFirst) {
  for (const char* const way : {static_cast<const char*>(nullptr), "tcp,self"}) {
    const Variable tls("UCX_TLS", way);
    ExpectDone("inherit", 2);
  }
}

TEST(ProcessesTest, WhoWaitsWhileTheProcessEndsIsTold) { ExpectDone("quit", 3); }

TEST(ProcessesTest, WhoDoesNotComeIsNamed) {
  const Variable timeout("HCCL_CONNECT_TIMEOUT", "1");
  Processes processes("missing", 3, 2);
  for (const uint32_t rank : {0u, 1u}) {
    EXPECT_EQ(processes.Await(rank), HCCL_E_TIMEOUT) << processes.Said(rank);
    EXPECT_NE(processes.Said(rank).find("rank 2 of 3 has not come in 1 s"), std::string::npos)
        << processes.Said(rank);
  }
}

/// Kills a rank some time after all are running; the others must know within a second.
void ExpectSurvived(const char* role, uint32_t size, uint32_t victim, milliseconds after) {
  SCOPED_TRACE(testing::Message() << role << ", " << size << " ranks, rank " << victim
                                  << " killed after " << after.count() << " ms");
  Processes processes(role, size);
  for (uint32_t rank = 0; rank < size; ++rank) {
    ASSERT_TRUE(processes.Reached("running." + std::to_string(rank), kStart))
        << processes.Said(rank);
  }
  std::this_thread::sleep_for(after);
  processes.Signal(victim, SIGKILL);
  const auto killed = Processes::Clock::now();
  for (uint32_t rank = 0; rank < size; ++rank) {
    if (rank == victim) continue;
    EXPECT_EQ(processes.Await(rank, milliseconds(10000)), 0)
        << "rank " << rank << ": " << processes.Said(rank);
    // The process's end is a part of it, on a machine that is busy.
    EXPECT_LT((Processes::Clock::now() - killed) / milliseconds(1), 2000) << "rank " << rank;
  }
}

int Kills() {
  const char* kills = std::getenv("OPENACLNN_TEST_KILLS");
  if (kills != nullptr) return std::atoi(kills);
  return ranks::CountNetworks() == 0 ? 24 : 8;
}

TEST(ProcessesTest, ADeathIsKnownWithinASecond) {
  std::mt19937 random(1);
  for (int i = 0; i < Kills(); ++i) {
    const uint32_t size = 2 + random() % 2;
    const Variable tls("UCX_TLS", random() % 3 == 0 ? "tcp,self" : nullptr);
    ExpectSurvived("survive", size, random() % size, milliseconds(random() % 40));
    if (HasFailure()) return;
  }
}

TEST(ProcessesTest, ADeathIsKnownWhenTheRootHasLeft) {
  ExpectSurvived("orphan", 3, 2, milliseconds(50));
}

TEST(ProcessesTest, ADeathIsKnownWithNothingQueued) {
  ExpectSurvived("idle", 3, 0, milliseconds(0));
  ExpectSurvived("idle", 3, 1, milliseconds(0));
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
