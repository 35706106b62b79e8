// SPDX-License-Identifier: Apache-2.0
// Waits that could not end: for what is given up, for what nobody serves, for oneself.
#include <pthread.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/ascendcl/fixture.h"
#include "tests/ascendcl/inside.h"

namespace openaclnn {
namespace {

class HostWaitTest : public HangTest<RuntimeTest> {
 protected:
  static void Nothing(void*) {}
  static bool Done(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    EXPECT_EQ(aclrtStreamQuery(stream, &status), 0) << TakeMessage();
    return status == ACL_STREAM_STATUS_COMPLETE;
  }
};

TEST_F(HostWaitTest, ForceGivesUpAWaitThatHasBegun) {
  DeviceArray<uint8_t> bytes(64, 1);
  aclrtStream third = NewStream();
  aclrtEvent reached = NewEvent(), behind = NewEvent();
  Gate gate(first);
  gate.AwaitReached();
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtRecordEvent(reached, second), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 2, 64, second), 0);
  ASSERT_EQ(aclrtRecordEvent(behind, second), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(third, behind), 0);
  ASSERT_EQ(aclrtSynchronizeEvent(reached), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtDestroyStreamForce(second), 0) << TakeMessage();
  second = nullptr;
  EXPECT_EQ(aclrtSynchronizeStream(third), 0) << "who waits for what was dropped";
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 1));
  aclrtEventWaitStatus status{};
  EXPECT_EQ(aclrtQueryEventWaitStatus(event, &status), 0);
  EXPECT_EQ(status, ACL_EVENT_WAIT_STATUS_COMPLETE);
  EXPECT_FALSE(Done(first));
  gate.Open();
  EXPECT_EQ(aclrtDestroyStream(third), 0);
  EXPECT_EQ(aclrtDestroyEvent(reached), 0);
  EXPECT_EQ(aclrtDestroyEvent(behind), 0);
}

// A callback that nobody will take any more, and a stream that was made before its own waits for
// it.
TEST_F(HostWaitTest, EndsOfContextsEndAllCallbacksFirst) {
  for (const bool finalize : {false, true}) {
    SCOPED_TRACE(finalize);
    aclrtContext waiting = nullptr, calling = nullptr;
    ASSERT_EQ(aclrtCreateContext(&waiting, 0), 0);
    ASSERT_EQ(aclrtCreateContext(&calling, 0), 0);
    aclrtStream stream = NewStream();
    ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0);
    ASSERT_EQ(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, stream), 0);
    ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
    // Of the same context: the default stream is the first to be waited for.
    ASSERT_EQ(aclrtStreamWaitEvent(nullptr, event), 0);
    if (!finalize) {
      EXPECT_EQ(aclrtDestroyContext(calling), 0) << TakeMessage();
      EXPECT_EQ(aclrtDestroyContext(waiting), 0) << TakeMessage();
      continue;
    }
    // Of another context, which was made before.
    ASSERT_EQ(aclrtSetCurrentContext(waiting), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(nullptr, event), 0);
    EXPECT_EQ(aclFinalize(), 0) << TakeMessage();
    first = second = nullptr;
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
    first = NewStream();
    second = NewStream();
  }
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

// A copy of memory that is not pinned waits for its stream, so it is refused before it is queued.
TEST_F(HostWaitTest, PageableCopiesInAHostFunction) {
  DeviceArray<uint8_t> bytes(8, 1);
  PinnedBytes pinned(8);
  std::vector<uint8_t> host(8, 2);
  Inside copy([&] {
    return aclrtMemcpyAsync(bytes.data(), 8, host.data(), 8, ACL_MEMCPY_HOST_TO_DEVICE, first);
  });
  Inside rows([&] {
    return aclrtMemcpy2dAsync(bytes.data(), 4, host.data(), 4, 2, 2, ACL_MEMCPY_HOST_TO_DEVICE,
                              first);
  });
  Inside fill([&] { return aclrtMemsetAsync(host.data(), 8, 3, 8, first); });
  Inside elsewhere([&] {
    return aclrtMemcpyAsync(host.data(), 8, bytes.data(), 8, ACL_MEMCPY_DEVICE_TO_HOST, second);
  });
  Inside waits_for_none([&] {
    return aclrtMemcpyAsync(pinned.data(), 8, bytes.data(), 8, ACL_MEMCPY_DEVICE_TO_HOST, first);
  });
  for (Inside* inside : {&copy, &rows, &fill, &elsewhere, &waits_for_none}) inside->Launch(first);
  ASSERT_EQ(aclrtSynchronizeStream(first), 0) << TakeMessage();
  copy.ExpectRefused("aclrtMemcpyAsync");
  rows.ExpectRefused("aclrtMemcpy2dAsync");
  fill.ExpectRefused("aclrtMemsetAsync");
  EXPECT_EQ(elsewhere.code, 0) << elsewhere.message;
  EXPECT_EQ(waits_for_none.code, 0) << waits_for_none.message;
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(8, 1));
  EXPECT_EQ(host, std::vector<uint8_t>(8, 1));
  ASSERT_EQ(aclrtSynchronizeStream(first), 0) << "with what the functions have queued";
  EXPECT_EQ(pinned.data()[7], 1);
}

// The stream that is waited for waits for what comes behind the function, over two events.
TEST_F(HostWaitTest, WaitsThatComeBackToAHostFunction) {
  aclrtEvent behind = NewEvent();
  aclrtStream third = NewStream();
  Gate gate(first);
  Inside stream([&] { return aclrtSynchronizeStream(third); });
  Inside device([&] { return aclrtSynchronizeDevice(); });
  Inside marked([&] { return aclrtSynchronizeEvent(behind); });
  Inside destroy([&] { return aclrtDestroyStream(third); });
  Inside other([&] { return aclrtSynchronizeEvent(event); });
  other.Launch(first);
  for (Inside* inside : {&stream, &device, &marked, &destroy}) inside->Launch(first);
  ASSERT_EQ(aclrtRecordEvent(event, second), 0);
  aclrtEvent end = NewEvent();
  ASSERT_EQ(aclrtRecordEvent(end, first), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, end), 0);
  ASSERT_EQ(aclrtRecordEvent(behind, second), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(third, behind), 0);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(first), 0);
  stream.ExpectRefused("aclrtSynchronizeStream");
  device.ExpectRefused("aclrtSynchronizeDevice");
  marked.ExpectRefused("aclrtSynchronizeEvent");
  destroy.ExpectRefused("aclrtDestroyStream");
  EXPECT_EQ(other.code, 0) << "reached before: " << other.message;
  EXPECT_EQ(aclrtDestroyStream(third), 0);
  EXPECT_EQ(aclrtDestroyEvent(behind), 0);
  EXPECT_EQ(aclrtDestroyEvent(end), 0);
}

// Two that wait for one another: the second is told, the first goes on then.
TEST_F(HostWaitTest, HostFunctionsThatWaitForOneAnother) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> inside{0};
    const auto both = [&] {
      ++inside;
      while (inside < 2) std::this_thread::yield();
    };
    Inside one([&] { return both(), aclrtSynchronizeStream(second); });
    Inside two([&] { return both(), aclrtSynchronizeStream(first); });
    one.Launch(first);
    two.Launch(second);
    ASSERT_EQ(aclrtSynchronizeStream(first), 0);
    ASSERT_EQ(aclrtSynchronizeStream(second), 0);
    const bool refused[] = {one.code != 0, two.code != 0};
    ASSERT_TRUE(refused[0] || refused[1]);
    if (refused[0]) one.ExpectRefused("aclrtSynchronizeStream");
    if (refused[1]) two.ExpectRefused("aclrtSynchronizeStream");
  }
}

// Each of its callbacks would have to be taken by the thread that waits.
TEST_F(HostWaitTest, ThreadThatServesWhatItWaitsFor) {
  const uint64_t self = pthread_self();
  ASSERT_EQ(aclrtSubscribeReport(self, first), 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, first), 0);
  }
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
  const char* says = "calling thread serves a callback that the call waits for";
  for (aclrtStream stream : {first, second}) {
    ExpectRefused({"aclrtSynchronizeStream", [=] { return aclrtSynchronizeStream(stream); },
                   ACL_ERROR_RT_NO_PERMISSION, says});
    ExpectRefused({"aclrtDestroyStream", [=] { return aclrtDestroyStream(stream); },
                   ACL_ERROR_RT_NO_PERMISSION, says});
  }
  ExpectRefused({"aclrtSynchronizeDevice", [] { return aclrtSynchronizeDevice(); },
                 ACL_ERROR_RT_NO_PERMISSION, says});
  while (!Done(second)) {
    const int code = aclrtProcessReport(5);
    EXPECT_TRUE(code == 0 || code == ACL_ERROR_RT_REPORT_TIMEOUT) << TakeMessage();
  }
  EXPECT_EQ(aclrtSynchronizeStream(second), 0) << TakeMessage();
  ASSERT_EQ(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, first), 0);
  ASSERT_EQ(aclrtProcessReport(10'000), 0);
  EXPECT_EQ(aclrtSynchronizeStream(first), 0) << "taken, though the stream has not gone on yet";
  ASSERT_EQ(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_NO_BLOCK, first), 0);
  EXPECT_EQ(aclrtSynchronizeStream(first), 0) << "nothing waits for it";
}

// A device whose stream waits for one of another device cannot be reset in that one's function.
TEST_F(HostWaitTest, ContextsThatWaitForAHostFunction) {
  aclrtContext home = nullptr, other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&home), 0);
  Gate gate(first);
  Inside reset([] { return aclrtResetDevice(1); });
  Inside destroy([&] { return aclrtDestroyContext(other); });
  reset.Launch(first);
  destroy.Launch(first);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(nullptr, event), 0);
  ASSERT_EQ(aclrtCreateContext(&other, 0), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(nullptr, event), 0);
  ASSERT_EQ(aclrtSetCurrentContext(home), 0);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(first), 0);
  reset.ExpectRefused("aclrtResetDevice");
  destroy.ExpectRefused("aclrtDestroyContext");
  EXPECT_EQ(aclrtDestroyContext(other), 0);
  EXPECT_EQ(aclrtResetDevice(1), 0);
}

// Each destroys the context whose function the other is: one of them at least is refused, and both
// return. They may meet between the check and the wait, or not.
TEST_F(HostWaitTest, FunctionsThatDestroyEachOthersContext) {
  struct Side {
    aclrtContext context = nullptr;
    aclrtStream stream = nullptr;
    Side* other = nullptr;
    std::atomic<int>* ready = nullptr;
    int code = -1;
  };
  const auto destroy = [](void* argument) {
    auto& side = *static_cast<Side*>(argument);
    side.ready->fetch_add(1);
    while (*side.ready < 2) std::this_thread::yield();
    side.code = aclrtDestroyContext(side.other->context);
  };
  aclrtContext home = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&home), 0);
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> ready{0};
    Side sides[2];
    for (int i = 0; i < 2; ++i) {
      sides[i].other = &sides[1 - i];
      sides[i].ready = &ready;
      ASSERT_EQ(aclrtCreateContext(&sides[i].context, 0), 0);
      ASSERT_EQ(aclrtCreateStream(&sides[i].stream), 0);
      ASSERT_EQ(aclrtLaunchHostFunc(sides[i].stream, destroy, &sides[i]), 0);
    }
    for (const Side& side : sides) {
      if (aclrtSetCurrentContext(side.context) == 0) (void)aclrtSynchronizeStream(side.stream);
    }
    ASSERT_EQ(aclrtSetCurrentContext(home), 0);
    for (const Side& side : sides) (void)aclrtDestroyContext(side.context);
    ASSERT_EQ(ready, 2);
    EXPECT_TRUE(sides[0].code != 0 || sides[1].code != 0);
  }
}

// aclFinalize waits for the function, and aclInit would wait for aclFinalize.
TEST_F(HostWaitTest, InitInAHostFunctionDuringFinalize) {
  std::atomic<bool> ending{false};
  Inside init([&] {
    // Another thread stands in aclFinalize once the runtime is not initialised any more.
    while (!ending) std::this_thread::yield();
    int code = ACL_ERROR_REPEAT_INITIALIZE;
    while (code == ACL_ERROR_REPEAT_INITIALIZE) code = aclInit(nullptr);
    return code;
  });
  init.Launch(first);
  ending = true;
  EXPECT_EQ(aclFinalize(), 0) << TakeMessage();
  init.ExpectRefused("aclInit");
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  first = second = nullptr;
}

}  // namespace
}  // namespace openaclnn
