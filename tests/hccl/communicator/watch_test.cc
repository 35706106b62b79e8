// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK=full with operations of ranks: what they receive is written, what they send is
// read.
#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "common/text.h"
#include "hccl/fixture.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kCount = 16;
constexpr size_t kBytes = kCount * sizeof(float);
constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;

class RanksWatchTest : public WatchedTest {
 protected:
  RanksWatchTest() : WatchedTest("full") {}

  void SetUp() override {
    WatchedTest::SetUp();
    ranks.emplace(2);
  }
  void TearDown() override {
    ranks.reset();
    WatchedTest::TearDown();
  }
  /// `call` for each rank.
  template <class Call>
  void Together(const Call& call) {
    ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
    for (const uint32_t rank : {0u, 1u}) {
      ASSERT_EQ(call(rank, ranks->comm(rank), ranks->stream(rank)), HCCL_SUCCESS) << TakeMessage();
    }
    ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS) << TakeMessage();
    ranks->AwaitAll();
  }
  /// That the host reads memory in which something was written.
  static void Read(const NewMemory& memory) {
    std::vector<std::byte> host(memory.bytes());
    EXPECT_EQ(aclrtMemcpy(host.data(), memory.bytes(), memory.data(), memory.bytes(),
                          ACL_MEMCPY_DEVICE_TO_HOST),
              0)
        << TakeMessage();
    EXPECT_EQ(Reported(), "");
  }

  std::optional<Ranks> ranks;

 private:
  Variable devices_{"OPENACLNN_DEVICE_COUNT", "8"};
};

TEST_F(RanksWatchTest, WhatComesFromRanksIsWritten) {
  const Buffers<float> sent = Upload<float>({2, std::vector<float>(2 * kCount, 1.0f)});
  const auto from = [&](uint32_t rank) { return sent[rank]->data(); };
  const NewMemory sums[2] = {NewMemory(kBytes), NewMemory(kBytes)};
  const NewMemory parts[2] = {NewMemory(kBytes), NewMemory(kBytes)};
  const NewMemory all[2] = {NewMemory(2 * kBytes), NewMemory(2 * kBytes)};
  const NewMemory message(kBytes), cast(kBytes);
  for (const uint32_t rank : {0u, 1u}) {
    ASSERT_EQ(HcclAllReduce(from(rank), sums[rank].data(), kCount, kType, HCCL_REDUCE_SUM,
                            ranks->comm(rank), ranks->stream(rank)),
              HCCL_SUCCESS);
    ASSERT_EQ(HcclReduceScatter(from(rank), parts[rank].data(), kCount, kType, HCCL_REDUCE_SUM,
                                ranks->comm(rank), ranks->stream(rank)),
              HCCL_SUCCESS);
    ASSERT_EQ(HcclAllGather(from(rank), all[rank].data(), kCount, kType, ranks->comm(rank),
                            ranks->stream(rank)),
              HCCL_SUCCESS);
    ASSERT_EQ(HcclBroadcast(rank == 0 ? from(0) : reinterpret_cast<float*>(cast.data()), kCount,
                            kType, 0, ranks->comm(rank), ranks->stream(rank)),
              HCCL_SUCCESS);
  }
  Together([&](uint32_t rank, HcclComm comm, aclrtStream on) {
    return rank == 0 ? HcclSend(from(0), kCount, kType, 1, comm, on)
                     : HcclRecv(message.data(), kCount, kType, 0, comm, on);
  });
  for (const uint32_t rank : {0u, 1u}) {
    Read(sums[rank]);
    Read(parts[rank]);
    Read(all[rank]);
  }
  Read(message);
  Read(cast);
}

// Links are warmed up with whatever is there.
TEST_F(RanksWatchTest, WhatIsSentMayBeUnwritten) {
  const NewMemory memory(kBytes), received(kBytes);
  Together([&](uint32_t rank, HcclComm comm, aclrtStream on) {
    return rank == 0 ? HcclSend(memory.data(), kCount, kType, 1, comm, on)
                     : HcclRecv(received.data(), kCount, kType, 0, comm, on);
  });
  EXPECT_EQ(Reported(), "");
}

TEST_F(RanksWatchTest, TheyRaceAsOtherTasksDo) {
  const Buffers<float> data = Upload<float>({2, std::vector<float>(kCount, 1.0f)});
  const Buffers<float> sums = Empty<float>(2, kCount);
  const auto reduce = [&] {
    for (const uint32_t rank : {0u, 1u}) {
      ASSERT_EQ(HcclAllReduce(data[rank]->data(), sums[rank]->data(), kCount, kType,
                              HCCL_REDUCE_SUM, ranks->comm(rank), ranks->stream(rank)),
                HCCL_SUCCESS)
          << TakeMessage();
    }
  };
  const auto copy = [&](const void* from, void* to) {
    ASSERT_EQ(aclrtMemcpyAsync(to, kBytes, from, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0)
        << TakeMessage();
  };
  const NewMemory other(kBytes);
  reduce();
  copy(data[0]->data(), other.data());  // both read
  EXPECT_EQ(Reported(), "");
  reduce();
  copy(sums[0]->data(), other.data());
  std::string text = Reported();
  EXPECT_THAT(
      text, HasSubstr(Concat("racecheck: nothing orders aclrtMemcpyAsync on stream ", stream,
                             "\n         after HcclAllReduce on stream ", ranks->stream(0), "\n")));
  EXPECT_THAT(text, HasSubstr("aclrtMemcpyAsync reads src; HcclAllReduce, called before, writes "
                              "recvBuf\n"));
  reduce();
  copy(other.data(), data[1]->data());
  EXPECT_THAT(Reported(), HasSubstr("HcclAllReduce, called before, reads sendBuf\n"));
}

}  // namespace
}  // namespace openaclnn
