// SPDX-License-Identifier: Apache-2.0
// Contexts: create, switch, destroy, and what is current in which thread.
#include <thread>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

class ContextTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(aclrtGetCurrentContext(&primary), 0);
  }
  static aclrtContext Current() {
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&context), 0) << TakeMessage();
    return context;
  }
  aclrtContext primary = nullptr;
};

TEST_F(ContextTest, CreateMakesCurrentOnItsDevice) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), 0);
  EXPECT_NE(context, primary);
  EXPECT_EQ(Current(), context);
  int32_t device = -1;
  ASSERT_EQ(aclrtGetDevice(&device), 0);
  EXPECT_EQ(device, 1);
  ASSERT_EQ(aclrtSetCurrentContext(primary), 0);
  ASSERT_EQ(aclrtGetDevice(&device), 0);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(aclrtDestroyContext(context), 0);
  EXPECT_EQ(Current(), primary);
}

TEST_F(ContextTest, DestroyedContextIsCurrentNoMore) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
  aclrtStream stream = NewStream();
  DeviceArray<uint8_t> bytes(64);
  Gate gate(stream);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 5, 64, stream), 0);
  gate.Open();
  ASSERT_EQ(aclrtDestroyContext(context), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 5)) << "destroying waits for the work";
  aclrtContext now = nullptr;
  ExpectRefused({"aclrtGetCurrentContext", [&] { return aclrtGetCurrentContext(&now); },
                 ACL_ERROR_RT_CONTEXT_NULL, "context of this thread was destroyed"});
  ASSERT_EQ(aclrtSetCurrentContext(primary), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(ContextTest, EachHasADefaultStreamOfItsOwn) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
  aclrtStreamStatus status{};
  Gate gate(nullptr);
  ASSERT_EQ(aclrtStreamQuery(nullptr, &status), 0);
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  ASSERT_EQ(aclrtSetCurrentContext(primary), 0);
  ASSERT_EQ(aclrtStreamQuery(nullptr, &status), 0);
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  gate.Open();
  EXPECT_EQ(aclrtDestroyContext(context), 0);
}

TEST_F(ContextTest, ThreadsShareOne) {
  aclrtStream stream = NewStream();
  std::thread([&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_EQ(aclrtSetCurrentContext(primary), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  }).join();
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(ContextTest, DestroyForgetsSubscriptions) {
  for (int round = 0; round < 3; ++round) {
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
    for (aclrtStream stream : {aclrtStream{nullptr}, NewStream()}) {
      ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0)
          << "a subscription of a stream that is gone: " << TakeMessage();
    }
    EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_REPORT_TIMEOUT);
    ASSERT_EQ(aclrtDestroyContext(context), 0);
    EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_THREAD_SUBSCRIBE)
        << "the thread serves no stream any more";
  }
  EXPECT_EQ(aclrtSetCurrentContext(primary), 0);
}

}  // namespace
}  // namespace openaclnn
