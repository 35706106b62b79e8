// SPDX-License-Identifier: Apache-2.0
// Functions of the host in a stream: subscribed callbacks and host functions.
#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/ascendcl/fixture.h"

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

// What leaves a function of the host is an error of its stream, which goes on.
class ThrowingTest : public CallbackTest {
 protected:
  static void Words(void*) { throw std::runtime_error("no such weather"); }
  static void Number(void*) { throw 7; }

  void ExpectError(const std::string& message) {
    TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 10'000), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(TakeMessage().substr(0, message.size()), message);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 10'000), 0) << TakeMessage();
  }
  Seen seen;
};

TEST_F(ThrowingTest, HostFunction) {
  ASSERT_EQ(aclrtLaunchHostFunc(stream, Words, nullptr), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, Seen::Look, &seen), 0);
  ExpectError("EE1001: aclrtLaunchHostFunc: func outcome is an exception (no such weather)");
  ASSERT_EQ(aclrtLaunchHostFunc(stream, Number, nullptr), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, Seen::Look, &seen), 0);
  ExpectError("EE1001: aclrtLaunchHostFunc: func outcome is an exception (not a std::exception)");
  EXPECT_EQ(seen.runs, 2);
}

TEST_F(ThrowingTest, Callback) {
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0);
  int runs = 0;
  for (const auto type : {ACL_CALLBACK_BLOCK, ACL_CALLBACK_NO_BLOCK}) {
    ASSERT_EQ(aclrtLaunchCallback(Words, nullptr, type, stream), 0);
    ASSERT_EQ(aclrtLaunchCallback(Seen::Look, &seen, type, stream), 0);
    ++runs;
    while (seen.runs < runs) ASSERT_EQ(aclrtProcessReport(10'000), 0) << TakeMessage();
    ExpectError("EE1001: aclrtLaunchCallback: fn outcome is an exception (no such weather)");
  }
}

// Nobody can take a callback any more: the stream goes on, with an error that says so.
class EndedCallbackTest : public CallbackTest {
 protected:
  /// Leaves a callback with the thread, undelivered.
  void LaunchFor(uint64_t thread, aclrtCallbackBlockType type = ACL_CALLBACK_BLOCK) {
    ASSERT_EQ(aclrtSubscribeReport(thread, stream), 0) << TakeMessage();
    ASSERT_EQ(aclrtLaunchCallback(Seen::Look, &seen, type, stream), 0);
    if (type == ACL_CALLBACK_NO_BLOCK) return;
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  }
  void ExpectEnded() {
    TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 10'000), ACL_ERROR_RT_STREAM_NO_CB_REG);
    EXPECT_EQ(TakeMessage().find("EE1001: aclrtLaunchCallback: fn state is not run"), 0u);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 10'000), 0);
    EXPECT_EQ(seen.runs, 0);
  }
  Seen seen;
};

TEST_F(EndedCallbackTest, ByUnsubscribing) {
  LaunchFor(pthread_self());
  ASSERT_EQ(aclrtLaunchCallback(Seen::Look, &seen, ACL_CALLBACK_BLOCK, stream), 0);
  ASSERT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), 0);
  ExpectEnded();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0);
  EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_REPORT_TIMEOUT) << "nothing is left";
  ASSERT_EQ(aclrtLaunchCallback(Seen::Look, &seen, ACL_CALLBACK_BLOCK, stream), 0);
  EXPECT_EQ(aclrtProcessReport(10'000), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(seen.runs, 1);
}

TEST_F(EndedCallbackTest, OfOneStreamOfSeveral) {
  aclrtStream other = NewStream();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), other), 0);
  LaunchFor(pthread_self());
  ASSERT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), 0);
  ExpectEnded();
  EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_REPORT_TIMEOUT);
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

TEST_F(EndedCallbackTest, ThatNothingWaitsFor) {
  LaunchFor(pthread_self(), ACL_CALLBACK_NO_BLOCK);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  ASSERT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), 0);
  ExpectEnded();
}

TEST_F(EndedCallbackTest, ByForce) {
  LaunchFor(pthread_self());
  ASSERT_EQ(aclrtDestroyStreamForce(stream), 0);
  EXPECT_EQ(seen.runs, 0);
  stream = NewStream();
}

TEST_F(EndedCallbackTest, ByReset) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtSetDevice(1), 0);
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), nullptr), 0);
  ASSERT_EQ(aclrtLaunchCallback(Seen::Look, &seen, ACL_CALLBACK_BLOCK, nullptr), 0);
  ASSERT_EQ(aclrtResetDevice(1), 0);
  EXPECT_EQ(seen.runs, 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

// It would be that of a stream that comes to lie in the same place.
TEST_F(EndedCallbackTest, NoneBeginsWhileItsContextEnds) {
  ASSERT_EQ(aclrtSetDevice(1), 0);
  const aclrtStream ending = NewStream();
  Gate gate(ending);
  gate.AwaitReached();
  std::thread reset([] { EXPECT_EQ(aclrtResetDevice(1), 0) << TakeMessage(); });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  int code = 0;
  while (code == 0 && std::chrono::steady_clock::now() < until) {
    code = aclrtSubscribeReport(pthread_self(), ending);
    if (code == 0) (void)aclrtUnSubscribeReport(pthread_self(), ending);
  }
  EXPECT_EQ(code, ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(TakeMessage().find("stream value is one that is being destroyed"), std::string::npos);
  gate.Open();
  reset.join();
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

TEST_F(EndedCallbackTest, ByTheEndOfTheThread) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  std::thread([&] {
    ASSERT_EQ(aclrtSetCurrentContext(context), 0);
    LaunchFor(pthread_self());
  }).join();
  ExpectEnded();
  EXPECT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0) << "free for another";
}

TEST_F(EndedCallbackTest, ThreadThatWaitsIsTold) {
  std::atomic<uint64_t> id{0};
  std::atomic<bool> subscribed{false};
  std::thread server([&] {
    id = pthread_self();
    while (!subscribed) std::this_thread::yield();
    EXPECT_EQ(aclrtProcessReport(-1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  });
  while (id == 0) std::this_thread::yield();
  ASSERT_EQ(aclrtSubscribeReport(id, stream), 0);
  subscribed = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(aclrtUnSubscribeReport(id, stream), 0);
  server.join();
}

/// What a host function or callback gets when it waits for its own stream in every way.
struct Selfish {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  std::vector<int> codes;
  std::string message;

  static void Run(void* argument) {
    auto& self = *static_cast<Selfish*>(argument);
    EXPECT_EQ(aclrtSetCurrentContext(self.context), 0);
    EXPECT_EQ(aclrtRecordEvent(self.event, self.stream), 0);
    self.codes = {aclFinalize(),
                  aclrtSynchronizeStreamWithTimeout(self.stream, -1),
                  aclrtSynchronizeEvent(self.event),
                  aclrtSynchronizeDevice(),
                  aclrtSynchronizeDeviceWithTimeout(-1),
                  aclrtDestroyStream(self.stream),
                  aclrtDestroyStreamForce(self.stream),
                  aclrtDestroyContext(self.context),
                  aclrtSynchronizeStream(self.stream)};
    self.message = TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(self.stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0) << "another stream";
  }
  void Expect() const {
    EXPECT_EQ(codes, std::vector<int>(9, ACL_ERROR_RT_NO_PERMISSION));
    EXPECT_EQ(message.find("EE1001: aclrtSynchronizeStream: calling thread is in a host function"),
              0u)
        << message;
  }
};

TEST_F(CallbackTest, WaitingForItselfIsRefused) {
  Selfish selfish;
  ASSERT_EQ(aclrtCreateContext(&selfish.context, 0), 0);
  selfish.stream = NewStream();
  selfish.event = NewEvent();
  ASSERT_EQ(aclrtLaunchHostFunc(selfish.stream, Selfish::Run, &selfish), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(selfish.stream, 10'000), 0);
  selfish.Expect();
  selfish.codes.clear();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), selfish.stream), 0);
  ASSERT_EQ(aclrtLaunchCallback(Selfish::Run, &selfish, ACL_CALLBACK_BLOCK, selfish.stream), 0);
  EXPECT_EQ(aclrtProcessReport(10'000), 0);
  selfish.Expect();
  EXPECT_EQ(aclrtSynchronizeStream(selfish.stream), 0) << "not in the callback any more";
  EXPECT_EQ(aclrtDestroyEvent(selfish.event), 0);
  EXPECT_EQ(aclrtDestroyContext(selfish.context), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

}  // namespace
}  // namespace openaclnn
