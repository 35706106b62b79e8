// SPDX-License-Identifier: Apache-2.0
// Streams: order within one, concurrency between two, synchronise, query, destroy.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

class StreamTest : public RuntimeTest {
 protected:
  static aclrtStreamStatus Query(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_EQ(aclrtStreamQuery(stream, &status), 0) << TakeMessage();
    return status;
  }
};

TEST_F(StreamTest, TasksRunInOrder) {
  aclrtStream stream = NewStream();
  DeviceArray<uint32_t> value(1);
  std::vector<uint32_t> seen;
  struct Look {
    std::vector<uint32_t>* seen;
    DeviceArray<uint32_t>* value;
  } look = {&seen, &value};
  for (int i = 1; i <= 100; ++i) {
    ASSERT_EQ(aclrtMemsetAsync(value.data(), 4, i, 4, stream), 0);
    ASSERT_EQ(aclrtLaunchHostFunc(
                  stream,
                  [](void* argument) {
                    const auto* look = static_cast<Look*>(argument);
                    look->seen->push_back(look->value->Read()[0] & 0xFF);
                  },
                  &look),
              0);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  ASSERT_EQ(seen.size(), 100u);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(seen[i], i + 1);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(StreamTest, OneThatIsHeldDoesNotHoldOthers) {
  aclrtStream held = NewStream(), free = NewStream();
  DeviceArray<uint8_t> bytes(64);
  Gate gate(held);
  gate.AwaitReached();
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 1, 64, held), 0);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 2, 64, free), 0);
  ASSERT_EQ(aclrtSynchronizeStream(free), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 2));
  EXPECT_EQ(Query(held), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(Query(free), ACL_STREAM_STATUS_COMPLETE);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(held), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 1));
  EXPECT_EQ(Query(held), ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtDestroyStream(held), 0);
  EXPECT_EQ(aclrtDestroyStream(free), 0);
}

TEST_F(StreamTest, TimeoutLeavesTheWork) {
  aclrtStream stream = NewStream();
  DeviceArray<uint8_t> bytes(64);
  Gate gate(stream);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 3, 64, stream), 0);
  const auto begin = std::chrono::steady_clock::now();
  ExpectRefused({"aclrtSynchronizeStreamWithTimeout",
                 [&] { return aclrtSynchronizeStreamWithTimeout(stream, 30); },
                 ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "stream is not done after 30 ms"});
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60'000), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 3));
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 0), 0) << "nothing is left to wait for";
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, -1), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(StreamTest, WorkRunsWithoutAnyoneSynchronizing) {
  aclrtStream stream = NewStream();
  DeviceArray<uint8_t> bytes(64);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 3, 64, stream), 0);
  while (Query(stream) != ACL_STREAM_STATUS_COMPLETE) std::this_thread::yield();
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 3));
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(StreamTest, DestroyWaits) {
  DeviceArray<uint8_t> bytes(64);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 7, ACL_STREAM_FAST_LAUNCH | 0x8000), 0);
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, i, 64, stream), 0);
  }
  ASSERT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 299 & 0xFF));
}

TEST_F(StreamTest, DestroyForceDropsWhatHasNotBegun) {
  DeviceArray<uint8_t> bytes(64, 1);
  aclrtStream stream = NewStream(), waiting = NewStream();
  aclrtEvent event = NewEvent();
  Gate gate(stream);
  gate.AwaitReached();
  const size_t before = FreeMemory();
  auto scratch = std::make_unique<DeviceArray<uint8_t>>(4096);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 2, 64, stream), 0);
  ASSERT_EQ(aclrtMemsetAsync(scratch->data(), 4096, 2, 4096, stream), 0);
  ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(waiting, event), 0);
  scratch.reset();
  gate.OpenSoon();
  ASSERT_EQ(aclrtDestroyStreamForce(stream), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 1));
  EXPECT_EQ(FreeMemory(), before) << "dropped work lets go of its memory";
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiting, 10'000), 0)
      << "a stream waits for a record that was dropped";
  EXPECT_EQ(aclrtDestroyStream(waiting), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

// Who waits for the task that is running may not be released by those that are dropped behind it.
TEST_F(StreamTest, DestroyForceReleasesNobodyEarly) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  aclrtStream stream = NewStream();
  DeviceArray<uint8_t> bytes(64);
  Gate gate(stream);
  gate.AwaitReached();
  std::atomic<bool> waiting{false};
  std::thread waiter([&] {
    ASSERT_EQ(aclrtSetCurrentContext(context), 0);
    waiting = true;
    const int code = aclrtSynchronizeStream(stream);
    if (code == ACL_ERROR_RT_INVALID_HANDLE) return;  // it has come too late
    EXPECT_EQ(code, 0) << TakeMessage();
    EXPECT_TRUE(gate.IsOpen()) << "released while the first task is running";
  });
  while (!waiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (int i = 0; i < 5; ++i) ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, i, 64, stream), 0);
  gate.OpenSoon();
  EXPECT_EQ(aclrtDestroyStreamForce(stream), 0);
  waiter.join();
}

TEST_F(StreamTest, ManyAtOnce) {
  std::vector<aclrtStream> streams(500);
  DeviceArray<uint8_t> bytes(500);
  for (size_t i = 0; i < streams.size(); ++i) {
    streams[i] = NewStream();
    ASSERT_EQ(aclrtMemsetAsync(bytes.data() + i, 1, static_cast<int>(i), 1, streams[i]), 0);
  }
  ASSERT_EQ(aclrtSynchronizeDevice(), 0);
  const std::vector<uint8_t> values = bytes.Read();
  for (size_t i = 0; i < streams.size(); ++i) {
    EXPECT_EQ(values[i], i & 0xFF);
    EXPECT_EQ(aclrtDestroyStream(streams[i]), 0);
  }
}

TEST_F(StreamTest, KeepsTheOverflowSwitch) {
  const aclrtStream stream = NewStream(), other = NewStream();
  const auto look = [](aclrtStream at) {
    uint32_t flag = 9;
    EXPECT_EQ(aclrtGetStreamOverflowSwitch(at, &flag), 0) << TakeMessage();
    return flag;
  };
  for (const aclrtStream each : {stream, other, aclrtStream{nullptr}}) EXPECT_EQ(look(each), 0u);
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream, 1), 0) << TakeMessage();
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(nullptr, 1), 0) << TakeMessage();
  EXPECT_EQ(look(stream), 1u);
  EXPECT_EQ(look(nullptr), 1u);
  EXPECT_EQ(look(other), 0u) << "of each stream its own";
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream, 0), 0) << TakeMessage();
  EXPECT_EQ(look(stream), 0u);
  EXPECT_EQ(aclrtDestroyStream(other), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace openaclnn
