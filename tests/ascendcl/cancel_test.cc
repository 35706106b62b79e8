// SPDX-License-Identifier: Apache-2.0
// Cancelled threads: a wait is a point of cancellation, and leaves what it waited for as it was.
#include <pthread.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "tests/ascendcl/inside.h"

namespace openaclnn {
namespace {

struct Wait {
  const char* name;
  int (*call)(aclrtStream stream, aclrtEvent event);
};

const Wait kWaits[] = {
    {"Stream", [](aclrtStream stream, aclrtEvent) { return aclrtSynchronizeStream(stream); }},
    {"StreamForAWhile",
     [](aclrtStream stream, aclrtEvent) {
       return aclrtSynchronizeStreamWithTimeout(stream, 100'000);
     }},
    {"Device", [](aclrtStream, aclrtEvent) { return aclrtSynchronizeDevice(); }},
    {"Event", [](aclrtStream, aclrtEvent event) { return aclrtSynchronizeEvent(event); }},
    {"Destruction", [](aclrtStream stream, aclrtEvent) { return aclrtDestroyStream(stream); }},
};

class CancelTest : public HangTest<RuntimeTest>, public testing::WithParamInterface<Wait> {
 protected:
  struct Caller {
    aclrtContext context;
    aclrtStream stream;
    aclrtEvent event;
  };
  static void* Call(void* argument) {
    const Caller caller = *static_cast<Caller*>(argument);
    (void)aclrtSetCurrentContext(caller.context);
    (void)GetParam().call(caller.stream, caller.event);
    return nullptr;
  }
  /// What a thread ended with that was cancelled in the call, or before it.
  static void* Cancelled(Caller caller, std::chrono::milliseconds after) {
    pthread_t thread{};
    void* ended = nullptr;
    EXPECT_EQ(pthread_create(&thread, nullptr, Call, &caller), 0);
    std::this_thread::sleep_for(after);
    EXPECT_EQ(pthread_cancel(thread), 0);
    EXPECT_EQ(pthread_join(thread, &ended), 0);
    return ended;
  }
};

TEST_P(CancelTest, EndsTheThreadWhereItWaits) {
  Caller caller{nullptr, first, event};
  ASSERT_EQ(aclrtGetCurrentContext(&caller.context), 0);
  PinnedBytes bytes(1);
  const bool destroys = GetParam().name == std::string_view("Destruction");
  for (const int after : {0, 1, 20}) {
    if (destroys && after < 20) continue;  // once alone, and so that it has begun
    Gate gate(first);
    gate.AwaitReached();
    ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 1, after, 1, first), 0);
    ASSERT_EQ(aclrtRecordEvent(event, first), 0);
    EXPECT_EQ(Cancelled(caller, std::chrono::milliseconds(after)), PTHREAD_CANCELED);
    gate.Open();
    if (destroys) break;  // TearDown does it again
    ASSERT_EQ(aclrtSynchronizeStream(first), 0) << TakeMessage();
    EXPECT_EQ(bytes.data()[0], after);
  }
}

INSTANTIATE_TEST_SUITE_P(Waits, CancelTest, testing::ValuesIn(kWaits),
                         [](const auto& info) { return std::string(info.param.name); });

class CancelledSubscriberTest : public RuntimeTest {};

TEST_F(CancelledSubscriberTest, LeavesItsStream) {
  struct State {
    aclrtStream stream;
    aclrtContext context = nullptr;
    std::atomic<bool> subscribed{false};
  } state{NewStream()};
  ASSERT_EQ(aclrtGetCurrentContext(&state.context), 0);
  pthread_t thread{};
  const auto subscribe = [](void* argument) -> void* {
    auto* to = static_cast<State*>(argument);
    (void)aclrtSetCurrentContext(to->context);
    to->subscribed = aclrtSubscribeReport(pthread_self(), to->stream) == 0;
    while (aclrtProcessReport(-1) == 0) continue;
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, subscribe, &state), 0);
  while (!state.subscribed) std::this_thread::yield();
  void* ended = nullptr;
  ASSERT_EQ(pthread_cancel(thread), 0);
  ASSERT_EQ(pthread_join(thread, &ended), 0);
  EXPECT_EQ(ended, PTHREAD_CANCELED);
  EXPECT_EQ(aclrtSynchronizeStream(state.stream), 0) << TakeMessage();
  EXPECT_EQ(aclrtDestroyStream(state.stream), 0) << TakeMessage();
}

}  // namespace
}  // namespace openaclnn
