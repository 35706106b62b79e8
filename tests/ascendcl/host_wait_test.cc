// SPDX-License-Identifier: Apache-2.0
// Waits that could not end: for what is given up, for what nobody serves, for oneself.
#include <atomic>
#include <thread>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

/// Without what is tested here calls hang: the program ends then.
class HostWaitTest : public RuntimeTest {
 protected:
  void SetUp() override {
    alarm(60);
    RuntimeTest::SetUp();
    first = NewStream();
    second = NewStream();
    event = NewEvent();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyEvent(event), 0);
    for (aclrtStream stream : {first, second}) {
      if (stream != nullptr) {
        EXPECT_EQ(aclrtDestroyStream(stream), 0) << TakeMessage();
      }
    }
    RuntimeTest::TearDown();
    alarm(0);
  }
  static void Nothing(void*) {}
  static bool Done(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    EXPECT_EQ(aclrtStreamQuery(stream, &status), 0) << TakeMessage();
    return status == ACL_STREAM_STATUS_COMPLETE;
  }
  aclrtStream first = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
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

}  // namespace
}  // namespace openaclnn
