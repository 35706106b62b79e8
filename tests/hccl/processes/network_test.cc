// SPDX-License-Identifier: Apache-2.0
// Ranks in networks of their own: what crosses the links, and cables that are pulled.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "ascendcl/fixture.h"
#include "hccl/processes/hangs.h"
#include "hccl/processes/networks.h"
#include "hccl/processes/processes.h"
#include "hccl/processes/role.h"

namespace openaclnn {
namespace ranks {
namespace {

// Of each rank's AllReduce of floats: 16 MiB.
constexpr size_t kCount = 4 << 20;

int Exchange(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  const Device<float> data(std::vector<float>(kCount, 1));
  REQUIRE(HcclAllReduce(data.data(), data.data(), kCount, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                        comm, stream));
  REQUIRE(aclrtSynchronizeStream(stream));
  Require(data.Read() == std::vector<float>(kCount, static_cast<float>(ranks)), "values");
  REQUIRE(HcclCommDestroy(comm));
  return 0;
}

const bool kEntered = Roles().emplace("exchange", Run<Exchange>).second;

}  // namespace
}  // namespace ranks

namespace {

using ranks::Processes;
using ranks::Traffic;
using std::chrono::milliseconds;

constexpr milliseconds kStart{20000};

class NetworkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (ranks::CountNetworks() == 0) GTEST_SKIP() << "is for bench/ranks/ranks_networks.py";
  }
};

// 2 (P - 1) / P of the data, each way; headers, acknowledgements and the meeting are less than a
// twentieth of it. Shared memory would leave the links idle.
TEST_F(NetworkTest, BytesOnTheWireAreTheLeast) {
  for (const uint32_t size : {2u, std::min(5u, ranks::CountNetworks())}) {
    std::vector<Traffic> before;
    for (uint32_t rank = 0; rank < size; ++rank) before.push_back(ranks::TrafficOf(rank));
    Processes processes("exchange", size);
    const double least = 2.0 * (size - 1) / size * ranks::kCount * sizeof(float);
    for (uint32_t rank = 0; rank < size; ++rank) {
      ASSERT_EQ(processes.Await(rank), 0) << processes.Said(rank);
    }
    for (uint32_t rank = 0; rank < size; ++rank) {
      const Traffic after = ranks::TrafficOf(rank);
      const double sent = static_cast<double>(after.sent - before[rank].sent),
                   received = static_cast<double>(after.received - before[rank].received);
      for (const double bytes : {sent, received}) {
        EXPECT_GE(bytes, least) << "rank " << rank << " of " << size;
        EXPECT_LE(bytes, 1.05 * least) << "rank " << rank << " of " << size;
      }
    }
  }
}

void ExpectRunning(const Processes& processes, uint32_t size) {
  for (uint32_t rank = 0; rank < size; ++rank) {
    ASSERT_TRUE(processes.Reached("running." + std::to_string(rank), kStart))
        << processes.Said(rank);
  }
}

// TCP sends again what was lost.
TEST_F(NetworkTest, ACableThatIsPulledForAMomentChangesNothing) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "20");
  Processes processes("steady", 2);
  ExpectRunning(processes, 2);
  for (const uint32_t rank : {0u, 1u}) {
    ASSERT_TRUE(ranks::SetCable(rank, false));
    std::this_thread::sleep_for(milliseconds(250));
    ASSERT_TRUE(ranks::SetCable(rank, true));
    std::this_thread::sleep_for(milliseconds(250));
  }
  processes.Make(ranks::kEnoughFile);
  for (const uint32_t rank : {0u, 1u}) {
    EXPECT_EQ(processes.Await(rank), 0) << processes.Said(rank);
  }
}

// No process has ended and no socket has closed: only time tells.
TEST_F(NetworkTest, ACableThatStaysPulledIsTold) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "1");
  Processes processes("steady", 2);
  ExpectRunning(processes, 2);
  ASSERT_TRUE(ranks::SetCable(1, false));
  for (const uint32_t rank : {0u, 1u}) {
    EXPECT_TRUE(processes.Reached("told." + std::to_string(rank), milliseconds(4000)))
        << processes.Said(rank);
    EXPECT_NE(processes.Said(rank).find("(HCCL_EXEC_TIMEOUT): it waits for rank"),
              std::string::npos)
        << processes.Said(rank);
  }
  processes.Make(ranks::kEnoughFile);
  for (const uint32_t rank : {0u, 1u}) {
    EXPECT_EQ(processes.Await(rank), ranks::kTimedOut) << processes.Said(rank);
  }
  EXPECT_TRUE(ranks::SetCable(1, true));
}

}  // namespace
}  // namespace openaclnn
