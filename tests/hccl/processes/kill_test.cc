// SPDX-License-Identifier: Apache-2.0
// Ranks that are killed at any point: the others know within a second, take no wrong numbers for
// right ones, and end. Of many kills the middle one tells how long it takes: a busy machine may
// keep a process from running for longer.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ascendcl/fixture.h"
#include "hccl/hccl_types.h"
#include "hccl/processes/hangs.h"
#include "hccl/processes/networks.h"
#include "hccl/processes/processes.h"

namespace openaclnn {
namespace {

using ranks::Processes;
using std::chrono::microseconds, std::chrono::milliseconds;

constexpr milliseconds kStart{20000}, kKnown{1000};

/// Some time after all are running; when it was.
void KillOne(const Processes& processes, uint32_t size, uint32_t victim, microseconds after,
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
  processes.Make(ranks::kEnoughFile);
  for (uint32_t rank = 0; rank < size; ++rank) {
    if (rank == victim) continue;
    EXPECT_EQ(processes.Await(rank, milliseconds(10000)), code)
        << "rank " << rank << ": " << processes.Said(rank);
  }
  return known;
}

/// How long it took after each of several kills, until the last of the others knew.
void ExpectKnown(std::vector<milliseconds> times) {
  std::sort(times.begin(), times.end());
  const milliseconds middle = times[times.size() / 2], latest = times.back();
  EXPECT_LT(middle, kKnown) << middle.count() << " ms";
  std::cout << times.size() << " kills, known within " << middle.count() << " ms, "
            << latest.count() << " at the latest\n";
}

int Kills() { return ranks::Times("OPENACLNN_TEST_KILLS", ranks::CountNetworks() == 0 ? 24 : 8); }

/// Kills ranks in that role.
void KillMany(const char* role, uint32_t seed, int code) {
  std::mt19937 random = ranks::Seeded(seed);
  std::vector<milliseconds> times;
  for (int i = 0; i < Kills(); ++i) {
    const uint32_t size = 2 + random() % 2;
    const Variable tls("UCX_TLS", random() % 3 == 0 ? "tcp,self" : nullptr);
    const Variable check("OPENACLNN_CHECK", random() % 2 == 0 ? "off" : "fast");
    const uint32_t victim = random() % size;
    const milliseconds after(random() % 40);
    times.push_back(ExpectSurvived(role, size, victim, after, code));
    if (testing::Test::HasFailure()) return;
  }
  ExpectKnown(std::move(times));
}

TEST(KillTest, ADeathIsKnownWithinASecond) { KillMany("survive", 1, 0); }

// Each result that a rank had before it knew was that of all ranks.
TEST(KillTest, NobodyTakesWrongNumbersOfTheDead) { KillMany("steady", 5, ranks::kLost); }

/// When each of the others was told, in the order in which they are.
std::map<uint32_t, milliseconds> AwaitTold(const Processes& processes, uint32_t size,
                                           uint32_t victim, Processes::Clock::time_point killed) {
  std::map<uint32_t, milliseconds> told;
  const auto late = killed + milliseconds(10000);
  while (told.size() + 1 < size && Processes::Clock::now() < late) {
    for (uint32_t rank = 0; rank < size; ++rank) {
      if (rank == victim || told.contains(rank)) continue;
      if (!processes.Reached("told." + std::to_string(rank), milliseconds(0))) continue;
      told[rank] = std::chrono::duration_cast<milliseconds>(Processes::Clock::now() - killed);
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return told;
}

// A communicator takes some 12 ms to make over TCP. Of one who dies before it has met the others
// they know that it did not come.
TEST(KillTest, ADeathInTheFirstMomentsIsKnown) {
  const Variable timeout("HCCL_CONNECT_TIMEOUT", "1");
  std::mt19937 random = ranks::Seeded(6);
  std::vector<milliseconds> times;  // of those who had met
  for (int i = 0; i < Kills() && !HasFailure(); ++i) {
    const uint32_t size = 2 + random() % 3, victim = random() % size;
    const Variable tls("UCX_TLS", i % 3 != 0 ? "tcp,self" : nullptr);
    const microseconds after(random() % 30000);
    SCOPED_TRACE(testing::Message() << size << " ranks, rank " << victim << " killed after "
                                    << after.count() << " us");
    Processes processes("young", size);
    Processes::Clock::time_point killed;
    KillOne(processes, size, victim, after, &killed);
    if (HasFatalFailure()) return;
    const auto told = AwaitTold(processes, size, victim, killed);
    for (uint32_t rank = 0; rank < size; ++rank) {
      if (rank == victim) continue;
      const int code = processes.Await(rank, milliseconds(10000));
      if (code == 0 || code == HCCL_E_REMOTE) {
        ASSERT_TRUE(told.contains(rank)) << processes.Said(rank);
        times.push_back(told.at(rank));
      } else {
        EXPECT_TRUE(code == HCCL_E_TIMEOUT || code == HCCL_E_TCP_CONNECT)
            << "rank " << rank << " ends with " << code << ": " << processes.Said(rank);
      }
    }
  }
  if (!times.empty()) ExpectKnown(std::move(times));
}

/// Kills a rank for which not all of the others wait.
void KillAside(const char* role, uint32_t victim) {
  const int times = ranks::Times("OPENACLNN_TEST_KILLS", 8);
  std::vector<milliseconds> known;
  for (int i = 0; i < times && !testing::Test::HasFailure(); ++i) {
    const Variable tls("UCX_TLS", i % 2 == 0 ? "tcp,self" : nullptr);
    const Variable check("OPENACLNN_CHECK", i % 4 < 2 ? "off" : "fast");
    known.push_back(ExpectSurvived(role, 3, victim, milliseconds(5 * (i % 8)), 0));
  }
  ExpectKnown(std::move(known));
}

TEST(KillTest, ADeathIsKnownToWhoWaitsForAnotherOne) { KillAside("aside", 2); }

// Of a group over several communicators, by whom the other parts of it wait for, too.
TEST(KillTest, ADeathEndsAGroup) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "5");
  KillAside("group", 1);
}

TEST(KillTest, ADeathIsKnownWhenTheRootHasLeft) {
  ExpectSurvived("orphan", 3, 2, milliseconds(50), 0);
}

TEST(KillTest, ADeathOfARootThatHasGivenUpIsKnown) {
  ExpectSurvived("forsaken", 4, 0, milliseconds(50), 0);
}

TEST(KillTest, ADeathIsKnownWithNothingQueued) {
  ExpectSurvived("idle", 3, 0, milliseconds(0), 0);
  ExpectSurvived("idle", 3, 1, milliseconds(0), 0);
}

}  // namespace
}  // namespace openaclnn
