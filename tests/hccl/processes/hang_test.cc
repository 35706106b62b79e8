// SPDX-License-Identifier: Apache-2.0
// Ranks that stand still (SIGSTOP) or are late: shorter than the time-outs nothing comes of it,
// longer all are told, and nobody takes wrong numbers for right ones.
#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>
#include <random>
#include <regex>
#include <string>
#include <thread>

#include "ascendcl/fixture.h"
#include "hccl/hccl_types.h"
#include "hccl/processes/hangs.h"
#include "hccl/processes/networks.h"
#include "hccl/processes/processes.h"

namespace openaclnn {
namespace {

using ranks::Processes;
using std::chrono::milliseconds;

constexpr milliseconds kStart{20000};
// HCCL_EXEC_TIMEOUT here, and how much later on a busy machine all have been told.
constexpr milliseconds kTimeout{1000}, kSlack{9000};

std::string Numbered(const char* file, uint32_t rank) { return file + std::to_string(rank); }

void ExpectRunning(const Processes& processes, uint32_t size) {
  for (uint32_t rank = 0; rank < size; ++rank) {
    ASSERT_TRUE(processes.Reached(Numbered("running.", rank), kStart)) << processes.Said(rank);
  }
}

void ExpectRight(Processes* processes, uint32_t size) {
  processes->Make(ranks::kEnoughFile);
  for (uint32_t rank = 0; rank < size; ++rank) {
    EXPECT_EQ(processes->Await(rank), 0) << "rank " << rank << ": " << processes->Said(rank);
  }
}

/// OPENACLNN_TEST_HANGS, or a number for everyday.
int Hangs() { return ranks::Times("OPENACLNN_TEST_HANGS", ranks::CountNetworks() == 0 ? 24 : 8); }

TEST(HangTest, ShortOnesChangeNothing) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "5");
  std::mt19937 random = ranks::Seeded(2);
  constexpr int kEach = 8;  // hangs of the same processes
  for (int i = 0; i < Hangs(); i += kEach) {
    const uint32_t size = 2 + random() % 3;
    const Variable tls("UCX_TLS", random() % 3 == 0 ? "tcp,self" : nullptr);
    const Variable check("OPENACLNN_CHECK", random() % 2 == 0 ? "off" : "fast");
    SCOPED_TRACE(testing::Message() << "hang " << i << ", " << size << " ranks");
    Processes processes("steady", size);
    ExpectRunning(processes, size);
    for (int hang = 0; hang < kEach && !HasFailure(); ++hang) {
      const uint32_t victim = random() % size;
      processes.Stop(victim);
      std::this_thread::sleep_for(milliseconds(random() % 60));
      processes.Signal(victim, SIGCONT);
      std::this_thread::sleep_for(milliseconds(random() % 20));
    }
    ExpectRight(&processes, size);
    if (HasFailure()) return;
  }
}

TEST(HangTest, DelaysChangeNothing) {
  std::mt19937 random = ranks::Seeded(3);
  for (const uint32_t size : {2u, 3u, 4u}) {
    const Variable tls("UCX_TLS", size == 3 ? "tcp,self" : nullptr);
    Processes processes("delayed", size);
    ExpectRunning(processes, size);
    std::this_thread::sleep_for(milliseconds(random() % 300));
    ExpectRight(&processes, size);
  }
}

/// Whether the rank's stream has failed, and says one of what is documented.
void ExpectTold(const Processes& processes, uint32_t rank, milliseconds time) {
  EXPECT_TRUE(processes.Reached(Numbered("told.", rank), time)) << "rank " << rank;
  const std::string said = processes.Said(rank);
  EXPECT_TRUE(said.find("(HCCL_EXEC_TIMEOUT): it waits for rank") != std::string::npos ||
              said.find("(HCCL_EXEC_TIMEOUT): all that it waits for has come") !=
                  std::string::npos ||
              said.find("has given up") != std::string::npos)
      << said;
}

/// Stops a rank until the others have been told; then it is told, too.
void ExpectLongHangIsTold(uint32_t size, uint32_t victim, milliseconds after) {
  SCOPED_TRACE(testing::Message() << size << " ranks, rank " << victim << " stopped after "
                                  << after.count() << " ms");
  Processes processes("steady", size);
  ExpectRunning(processes, size);
  std::this_thread::sleep_for(after);
  processes.Stop(victim);
  const auto stopped = Processes::Clock::now();
  for (uint32_t rank = 0; rank < size; ++rank) {
    if (rank != victim) ExpectTold(processes, rank, kTimeout + kSlack);
  }
  // Not before its time, either: of an operation that had begun before.
  EXPECT_GT(Processes::Clock::now() - stopped, kTimeout / 2);
  processes.Signal(victim, SIGCONT);
  ExpectTold(processes, victim, kTimeout + kSlack);
  processes.Make(ranks::kEnoughFile);
  for (uint32_t rank = 0; rank < size; ++rank) {
    const int code = processes.Await(rank);
    EXPECT_TRUE(code == ranks::kTimedOut || code == ranks::kLost)
        << "rank " << rank << ": " << code << ", " << processes.Said(rank);
  }
}

TEST(HangTest, LongOnesAreToldAndNobodyTakesWrongNumbers) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "1");
  std::mt19937 random = ranks::Seeded(4);
  for (int i = 0; i < Hangs() / 8; ++i) {
    const uint32_t size = 2 + random() % 2;
    const Variable tls("UCX_TLS", random() % 3 == 0 ? "tcp,self" : nullptr);
    const Variable check("OPENACLNN_CHECK", random() % 2 == 0 ? "off" : "fast");
    ExpectLongHangIsTold(size, random() % size, milliseconds(random() % 40));
    if (HasFailure()) return;
  }
}

// Unchecked, a message moves as soon as the other calls: it may not be what came into the sender's
// memory after that was told that its operation had failed.
TEST(HangTest, WhatCameAfterAFailureIsNotReceived) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "1");
  const Variable check("OPENACLNN_CHECK", "off");
  for (const char* const way : {static_cast<const char*>(nullptr), "tcp,self"}) {
    const Variable tls("UCX_TLS", way);
    Processes processes("late_call", 2);
    ExpectTold(processes, 0, kStart);
    ExpectTold(processes, 1, kTimeout + kSlack);
    processes.Make(ranks::kEnoughFile);
    EXPECT_EQ(processes.Await(0), ranks::kTimedOut) << processes.Said(0);
    EXPECT_EQ(processes.Await(1), ranks::kLost) << processes.Said(1);
  }
}

TEST(HangTest, ARootThatStandsStillIsNamedAndMissesTheOthers) {
  const Variable timeout("HCCL_CONNECT_TIMEOUT", "1");
  Processes processes("stopped_root", 2);
  EXPECT_EQ(processes.Await(1), HCCL_E_TIMEOUT);
  EXPECT_NE(processes.Said(1).find("root has not answered in 1 s"), std::string::npos)
      << processes.Said(1);
  processes.Signal(0, SIGCONT);
  EXPECT_EQ(processes.Await(0), HCCL_E_TIMEOUT);
  EXPECT_NE(processes.Said(0).find("rank 1 of 2 has not come in 1 s"), std::string::npos)
      << processes.Said(0);
}

/// Whether a rank was told that `victim` is late, maybe with others, that a busy machine keeps: the
/// root by that name, where it has not answered.
bool NamesLate(const std::string& said, uint32_t victim) {
  const std::regex named("rank ([0-9]+, )*" + std::to_string(victim) +
                         "(, [0-9]+)* (of|from rank) ");
  return std::regex_search(said, named) ||
         (victim == 0 && said.find("root has not answered in 1 s") != std::string::npos);
}

// Wherever it stands still of the 12 ms that a communicator takes to make over TCP: that rank is
// late, for all others.
TEST(HangTest, WhoStandsStillWhileACommunicatorIsMadeIsNamed) {
  const Variable timeout("HCCL_CONNECT_TIMEOUT", "1");
  std::mt19937 random = ranks::Seeded(7);
  int late = 0;
  const int hangs = Hangs() / 3;  // of three seconds each
  for (int i = 0; i < hangs && !HasFailure(); ++i) {
    const uint32_t size = 2 + random() % 3, victim = random() % size;
    const Variable tls("UCX_TLS", i % 3 != 0 ? "tcp,self" : nullptr);
    const std::chrono::microseconds after(random() % 12000);
    SCOPED_TRACE(testing::Message() << size << " ranks, rank " << victim << " stopped after "
                                    << after.count() << " us");
    Processes processes("newborn", size);
    ExpectRunning(processes, size);
    std::this_thread::sleep_for(after);
    processes.Stop(victim);
    for (uint32_t rank = 0; rank < size; ++rank) {
      if (rank == victim) continue;
      const int code = processes.Await(rank);
      EXPECT_TRUE(code == 0 || code == HCCL_E_TIMEOUT) << rank << ": " << processes.Said(rank);
      EXPECT_TRUE(code == 0 || NamesLate(processes.Said(rank), victim)) << processes.Said(rank);
      late += code != 0;
    }
    processes.Signal(victim, SIGCONT);
    const int code = processes.Await(victim);
    EXPECT_TRUE(code == 0 || code == HCCL_E_TIMEOUT || code == HCCL_E_TCP_CONNECT)
        << code << ": " << processes.Said(victim);
  }
  std::cout << hangs << " hangs, " << late << " ranks were told of one\n";
}

TEST(HangTest, ARootThatStandsStillForAMomentIsWaitedFor) {
  Processes processes("stopped_root", 3);
  ASSERT_TRUE(processes.Reached("info.0", kStart));
  processes.AwaitStop(0);
  std::this_thread::sleep_for(milliseconds(300));
  processes.Signal(0, SIGCONT);
  for (const uint32_t rank : {0u, 1u, 2u}) {
    EXPECT_EQ(processes.Await(rank), 0) << processes.Said(rank);
  }
}

}  // namespace
}  // namespace openaclnn
