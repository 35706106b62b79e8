// SPDX-License-Identifier: Apache-2.0
// Functions of the host in a stream: subscribed callbacks and host functions.
#include <pthread.h>

#include <atomic>
#include <thread>

#include "runtime/fixture.h"

namespace openaclnn {
namespace {

/// What a function of the host saw when it ran.
struct Seen {
  std::atomic<int> runs{0};
  pthread_t thread{};
  DeviceArray<uint8_t>* bytes = nullptr;
  int value = -1;

  static void Look(void* argument) {
    auto* seen = static_cast<Seen*>(argument);
    seen->thread = pthread_self();
    if (seen->bytes != nullptr) seen->value = seen->bytes->Read()[0];
    seen->runs.fetch_add(1);
  }
};

class CallbackTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    stream = NewStream();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
    RuntimeTest::TearDown();
  }
  aclrtStream stream = nullptr;
};

TEST_F(CallbackTest, HostFunctionRunsInOrderOnAnotherThread) {
  DeviceArray<uint8_t> bytes(8);
  Seen seen;
  seen.bytes = &bytes;
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 8, 1, 8, stream), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, Seen::Look, &seen), 0);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 8, 2, 8, stream), 0);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(seen.runs, 1);
  EXPECT_EQ(seen.value, 1);
  EXPECT_FALSE(pthread_equal(seen.thread, pthread_self()));
  EXPECT_EQ(bytes.Read()[0], 2);
}

// However many of them block: each waits for one that was queued after it, on another stream.
TEST_F(CallbackTest, HostFunctionThatBlocksDelaysNoOther) {
  constexpr int kStreams = 20;
  std::vector<aclrtStream> streams(kStreams);
  std::vector<std::unique_ptr<Gate>> gates;
  for (aclrtStream& each : streams) {
    each = NewStream();
    gates.push_back(std::make_unique<Gate>(each));
  }
  for (const auto& gate : gates) gate->AwaitReached();
  Seen seen;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, Seen::Look, &seen), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60'000), 0) << TakeMessage();
  EXPECT_EQ(seen.runs, 1);
  gates.clear();
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  for (aclrtStream each : streams) EXPECT_EQ(aclrtDestroyStream(each), 0);
}

TEST_F(CallbackTest, ManyHostFunctionsInABurst) {
  constexpr int kStreams = 16, kRounds = 200;
  std::vector<aclrtStream> streams(kStreams);
  Seen seen;
  for (aclrtStream& each : streams) each = NewStream();
  for (int round = 0; round < kRounds; ++round) {
    for (aclrtStream each : streams) {
      ASSERT_EQ(aclrtLaunchHostFunc(
                    each, [](void* runs) { static_cast<std::atomic<int>*>(runs)->fetch_add(1); },
                    &seen.runs),
                0);
    }
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(seen.runs, kStreams * kRounds);
  for (aclrtStream each : streams) EXPECT_EQ(aclrtDestroyStream(each), 0);
}

TEST_F(CallbackTest, BlockingCallbackHoldsTheStream) {
  DeviceArray<uint8_t> bytes(8);
  Seen seen;
  seen.bytes = &bytes;
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 8, 1, 8, stream), 0);
  ASSERT_EQ(aclrtLaunchCallback(Seen::Look, &seen, ACL_CALLBACK_BLOCK, stream), 0);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 8, 2, 8, stream), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(seen.runs, 0);
  ASSERT_EQ(aclrtProcessReport(10'000), 0);
  EXPECT_EQ(seen.runs, 1);
  EXPECT_EQ(seen.value, 1);
  EXPECT_TRUE(pthread_equal(seen.thread, pthread_self())) << "run by the thread that processes";
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(bytes.Read()[0], 2);
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), 0);
}

TEST_F(CallbackTest, OtherCallbackDoesNotHoldTheStream) {
  Seen seen;
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(aclrtLaunchCallback(Seen::Look, &seen, ACL_CALLBACK_NO_BLOCK, stream), 0);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(seen.runs, 0);
  ASSERT_EQ(aclrtProcessReport(0), 0);
  EXPECT_EQ(seen.runs, 3) << "all that are due";
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), 0);
}

TEST_F(CallbackTest, ThreadServesSeveralStreams) {
  aclrtStream other = NewStream();
  Seen seen;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> id{0};
  std::thread server([&] {
    id = pthread_self();
    while (!stop) {
      const int status = aclrtProcessReport(10);
      EXPECT_TRUE(status == 0 || status == ACL_ERROR_RT_REPORT_TIMEOUT ||
                  status == ACL_ERROR_RT_THREAD_SUBSCRIBE)
          << TakeMessage();
    }
  });
  while (id == 0) std::this_thread::yield();
  ASSERT_EQ(aclrtSubscribeReport(id, stream), 0);
  ASSERT_EQ(aclrtSubscribeReport(id, other), 0);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(aclrtLaunchCallback(Seen::Look, &seen, ACL_CALLBACK_BLOCK, stream), 0);
    ASSERT_EQ(aclrtLaunchCallback(Seen::Look, &seen, ACL_CALLBACK_BLOCK, other), 0);
  }
  ASSERT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(seen.runs, 100);
  EXPECT_EQ(aclrtUnSubscribeReport(id, stream), 0);
  EXPECT_EQ(aclrtUnSubscribeReport(id, other), 0);
  stop = true;
  server.join();
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

TEST_F(CallbackTest, SubscriptionRules) {
  const uint64_t self = pthread_self();
  ASSERT_EQ(aclrtSubscribeReport(self, stream), 0);
  ExpectRefused({"aclrtSubscribeReport", [&] { return aclrtSubscribeReport(self, stream); },
                 ACL_ERROR_RT_STREAM_SUBSCRIBE, "stream subscription is that of thread"});
  ExpectRefused({"aclrtUnSubscribeReport", [&] { return aclrtUnSubscribeReport(1, stream); },
                 ACL_ERROR_RT_THREAD_SUBSCRIBE, "threadId value is 1"});
  ExpectRefused({"aclrtProcessReport", [] { return aclrtProcessReport(5); },
                 ACL_ERROR_RT_REPORT_TIMEOUT, "callback is not there after 5 ms"});
  ASSERT_EQ(aclrtUnSubscribeReport(self, stream), 0);
  ASSERT_EQ(aclrtSubscribeReport(self, stream), 0) << "again";
  aclrtStream other = NewStream();
  ASSERT_EQ(aclrtSubscribeReport(self, other), 0);
  ASSERT_EQ(aclrtUnSubscribeReport(self, stream), 0);
  EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_REPORT_TIMEOUT) << "it still serves the other";
  EXPECT_EQ(aclrtDestroyStream(other), 0);
  EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_THREAD_SUBSCRIBE) << "a stream that is destroyed";
}

}  // namespace
}  // namespace openaclnn
