// SPDX-License-Identifier: Apache-2.0
// Ranks that are killed at any point: the others know within a second, take no wrong numbers for
// right ones, and end.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "ascendcl/fixture.h"
#include "hccl/hangs.h"
#include "hccl/networks.h"
#include "hccl/processes.h"

namespace openaclnn {
namespace {

using ranks::Processes;
using std::chrono::milliseconds;

constexpr milliseconds kStart{20000}, kKnown{1000};

/// Some time after all are running; when it was.
void KillOne(const Processes& processes, uint32_t size, uint32_t victim, milliseconds after,
             Processes::Clock::time_point* killed) {
  for (uint32_t rank = 0; rank < size; ++rank) {
    ASSERT_TRUE(processes.Reached("running." + std::to_string(rank), kStart))
        << processes.Said(rank);
  }
  std::this_thread::sleep_for(after);
  *killed = Processes::Clock::now();
  processes.Signal(victim, SIGKILL);
}

/// How long it took until all others had said that they know; they are waited for to the end.
milliseconds ExpectSurvived(const char* role, uint32_t size, uint32_t victim, milliseconds after,
                            int code) {
  SCOPED_TRACE(testing::Message() << role << ", " << size << " ranks, rank " << victim
                                  << " killed after " << after.count() << " ms");
  Processes processes(role, size);
  Processes::Clock::time_point killed;
  KillOne(processes, size, victim, after, &killed);
  if (testing::Test::HasFatalFailure()) return kStart;
  for (uint32_t rank = 0; rank < size; ++rank) {
    if (rank == victim) continue;
    EXPECT_TRUE(processes.Reached("told." + std::to_string(rank), milliseconds(10000)))
        << "rank " << rank << ": " << processes.Said(rank);
  }
  const auto known = std::chrono::duration_cast<milliseconds>(Processes::Clock::now() - killed);
  EXPECT_LT(known, kKnown) << known.count() << " ms";
  processes.Make(ranks::kEnoughFile);
  for (uint32_t rank = 0; rank < size; ++rank) {
    if (rank == victim) continue;
    EXPECT_EQ(processes.Await(rank, milliseconds(10000)), code)
        << "rank " << rank << ": " << processes.Said(rank);
  }
  return known;
}

int Kills() { return ranks::Times("OPENACLNN_TEST_KILLS", ranks::CountNetworks() == 0 ? 24 : 8); }

/// Kills ranks in that role, and says how late the latest of the others knew.
void KillMany(const char* role, uint32_t seed, int code) {
  std::mt19937 random = ranks::Seeded(seed);
  milliseconds latest{0};
  for (int i = 0; i < Kills(); ++i) {
    const uint32_t size = 2 + random() % 2;
    const Variable tls("UCX_TLS", random() % 3 == 0 ? "tcp,self" : nullptr);
    const Variable check("OPENACLNN_CHECK", random() % 2 == 0 ? "off" : "fast");
    const uint32_t victim = random() % size;
    const milliseconds after(random() % 40);
    latest = std::max(latest, ExpectSurvived(role, size, victim, after, code));
    if (testing::Test::HasFailure()) return;
  }
  std::cout << Kills() << " kills, known within " << latest.count() << " ms\n";
}

TEST(KillTest, ADeathIsKnownWithinASecond) { KillMany("survive", 1, 0); }

// Each result that a rank had before it knew was that of all ranks.
TEST(KillTest, NobodyTakesWrongNumbersOfTheDead) { KillMany("steady", 5, ranks::kLost); }

TEST(KillTest, ADeathIsKnownToWhoWaitsForAnotherOne) {
  const int times = ranks::Times("OPENACLNN_TEST_KILLS", 8);
  milliseconds latest{0};
  for (int i = 0; i < times && !HasFailure(); ++i) {
    const Variable tls("UCX_TLS", i % 2 == 0 ? "tcp,self" : nullptr);
    const Variable check("OPENACLNN_CHECK", i % 4 < 2 ? "off" : "fast");
    latest = std::max(latest, ExpectSurvived("aside", 3, 2, milliseconds(5 * (i % 8)), 0));
  }
  std::cout << times << " kills, known within " << latest.count() << " ms\n";
}

TEST(KillTest, ADeathIsKnownWhenTheRootHasLeft) {
  ExpectSurvived("orphan", 3, 2, milliseconds(50), 0);
}

TEST(KillTest, ADeathIsKnownWithNothingQueued) {
  ExpectSurvived("idle", 3, 0, milliseconds(0), 0);
  ExpectSurvived("idle", 3, 1, milliseconds(0), 0);
}

}  // namespace
}  // namespace openaclnn
