// SPDX-License-Identifier: Apache-2.0
// HcclCommDestroy where streams wait for the calling thread: what could not end is refused, and the
// communicator stays as it was.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "ascendcl/inside.h"
#include "hccl/fixture.h"

namespace openaclnn {
namespace {

constexpr size_t kCount = 1000;

class HostFunctionTest : public HangTest<RanksTest> {
 protected:
  static HcclComm NewComm() {
    int32_t device = 0;
    HcclComm comm = nullptr;
    EXPECT_EQ(HcclCommInitAll(1, &device, &comm), HCCL_SUCCESS) << TakeMessage();
    return comm;
  }
  static void Reduce(const DeviceArray<float>& data, HcclComm comm, aclrtStream stream) {
    EXPECT_EQ(HcclAllReduce(data.data(), data.data(), kCount, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                            comm, stream),
              HCCL_SUCCESS)
        << TakeMessage();
  }
  static void ExpectRefused(const Inside& destroy) {
    EXPECT_EQ(destroy.code, HCCL_E_RUNTIME);
    EXPECT_NE(destroy.message.find("HcclCommDestroy: comm has operations that are not done: "
                                   "calling thread is in a host function"),
              std::string::npos)
        << destroy.message;
  }
};

TEST_F(HostFunctionTest, OperationsBehindItAreNotAwaited) {
  for (const uint32_t size : {1u, 2u}) {
    const Ranks ranks(size);
    const Buffers<float> data =
        Upload<float>(ranks::Vectors<float>(size, std::vector<float>(kCount, 1.0f)));
    Gate gate(ranks.stream(0));
    Inside destroy([&] { return HcclCommDestroy(ranks.comm(0)); });
    destroy.Launch(ranks.stream(0));
    for (uint32_t rank = 0; rank < size; ++rank) {
      Reduce(*data[rank], ranks.comm(rank), ranks.stream(rank));
    }
    gate.Open();
    ranks.AwaitAll();
    ExpectRefused(destroy);
    for (uint32_t rank = 0; rank < size; ++rank) {
      Reduce(*data[rank], ranks.comm(rank), ranks.stream(rank));
    }
    ranks.AwaitAll();
    const auto sum = static_cast<float>(size * size);
    for (const auto& each : data) EXPECT_EQ(each->Read(), std::vector<float>(kCount, sum));
  }
}

TEST_F(HostFunctionTest, NorThoseThatWaitForItByAnEvent) {
  const HcclComm comm = NewComm();
  const DeviceArray<float> data(kCount, 1.0f);
  Gate gate(first);
  Inside destroy([&] { return HcclCommDestroy(comm); });
  destroy.Launch(first);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
  Reduce(data, comm, second);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(second), 0) << TakeMessage();
  ExpectRefused(destroy);
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS) << TakeMessage();
}

TEST_F(HostFunctionTest, NorThoseOfAStreamThatIsBeingDestroyed) {
  const HcclComm comm = NewComm();
  const DeviceArray<float> data(kCount, 1.0f);
  aclrtStream ending = NewStream();
  std::atomic<bool> ends{false};
  Inside destroy([&] {
    while (!ends) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return HcclCommDestroy(comm);
  });
  destroy.Launch(ending);
  Reduce(data, comm, ending);
  ends = true;
  ASSERT_EQ(aclrtDestroyStream(ending), 0) << TakeMessage();
  ExpectRefused(destroy);
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS) << TakeMessage();
}

// A group's operations are one task of the stream, whatever call brought the stream.
TEST_F(HostFunctionTest, NorThoseOfAGroup) {
  const HcclComm comms[] = {NewComm(), NewComm()};
  const DeviceArray<float> data(kCount, 1.0f), other(kCount, 0.0f);
  Gate gate(first);
  Inside destroy([&] { return HcclCommDestroy(comms[1]); });
  destroy.Launch(first);
  ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  for (const HcclComm comm : comms) {
    EXPECT_EQ(HcclSend(data.data(), kCount, HCCL_DATA_TYPE_FP32, 0, comm, first), HCCL_SUCCESS);
    EXPECT_EQ(HcclRecv(other.data(), kCount, HCCL_DATA_TYPE_FP32, 0, comm, first), HCCL_SUCCESS);
  }
  ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS) << TakeMessage();
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(first), 0) << TakeMessage();
  ExpectRefused(destroy);
  EXPECT_EQ(other.Read(), data.Read());
  for (const HcclComm comm : comms) EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
}

TEST_F(HostFunctionTest, OtherOperationsAreAwaited) {
  const HcclComm comm = NewComm();
  const DeviceArray<float> data(kCount, 1.0f);
  Gate gate(second);
  Reduce(data, comm, first);
  Reduce(data, comm, second);
  std::atomic<bool> begins{false};
  Inside destroy([&] {
    begins = true;
    return HcclCommDestroy(comm);
  });
  destroy.Launch(first);
  while (!begins) std::this_thread::yield();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(first, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(first), 0) << TakeMessage();
  EXPECT_EQ(destroy.code, HCCL_SUCCESS) << destroy.message;
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_E_PARA) << "it was";
}

// The second of the two is told, and the first goes on then.
TEST_F(HostFunctionTest, OneThatWaitsForAnotherIsKnownToIt) {
  const DeviceArray<float> data(kCount, 1.0f);
  for (int round = 0; round < 50; ++round) {
    const HcclComm comm = NewComm();
    std::atomic<int> inside{0};
    const auto both = [&] {
      ++inside;
      while (inside < 2) std::this_thread::yield();
    };
    Inside destroy([&] { return both(), HcclCommDestroy(comm); });
    Inside wait([&] { return both(), aclrtSynchronizeStream(first); });
    Gate gate(second);
    wait.Launch(second);
    Reduce(data, comm, second);
    destroy.Launch(first);
    gate.Open();
    ASSERT_EQ(aclrtSynchronizeStream(first), 0) << TakeMessage();
    ASSERT_EQ(aclrtSynchronizeStream(second), 0) << TakeMessage();
    if (wait.code != 0) wait.ExpectRefused("aclrtSynchronizeStream");
    if (destroy.code == HCCL_SUCCESS) {
      EXPECT_NE(wait.code, 0);
    } else {
      ExpectRefused(destroy);
      EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS) << TakeMessage();
    }
  }
}

TEST_F(HostFunctionTest, WhoServesACallbackTakesItBefore) {
  const HcclComm comm = NewComm();
  const DeviceArray<float> data(kCount, 1.0f);
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), first), 0);
  ASSERT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, first), 0);
  Reduce(data, comm, first);
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_E_RUNTIME);
  const std::string message = TakeMessage();
  EXPECT_NE(message.find("not done: calling thread serves a callback"), message.npos) << message;
  ASSERT_EQ(aclrtProcessReport(10'000), 0) << TakeMessage();
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS) << TakeMessage();
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), first), 0);
}

}  // namespace
}  // namespace openaclnn
