// SPDX-License-Identifier: Apache-2.0
// Task errors and the floating-point environment of tasks, by way of EmbeddingDenseBackward.
#include <cfenv>
#include <cmath>
#include <limits>
#include <thread>

#include "ascendcl/process/float_environment.h"
#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

constexpr int kTaskError = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
constexpr int64_t kBad = Gradient::kOutOfRange;

class TaskTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    stream = NewStream();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
    RuntimeTest::TearDown();
  }
  /// The next synchronise brings the error, with its words, once.
  template <class Synchronize>
  static void ExpectErrorOnce(Synchronize&& synchronize) {
    TakeMessage();
    EXPECT_EQ(synchronize(), kTaskError);
    const std::string message = TakeMessage();
    EXPECT_EQ(message.substr(0, 8), "EZ2001: ") << message;
    EXPECT_NE(message.find("aclnnEmbeddingDenseBackward: indices"), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string(kBad)), std::string::npos) << message;
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), kTaskError);
    EXPECT_EQ(synchronize(), 0) << TakeMessage();
    EXPECT_EQ(TakeMessage(), "");
  }
  aclrtStream stream = nullptr;
};

TEST_F(TaskTest, FirstSynchronizeBringsTheErrorAndLaterTasksRun) {
  Gradient bad(kBad), good(0);
  const auto untouched = bad.out().Read();
  ASSERT_EQ(bad.Launch(stream), 0) << "phase 2 does not return it";
  ASSERT_EQ(good.Launch(stream), 0);
  ExpectErrorOnce([this] { return aclrtSynchronizeStream(stream); });
  EXPECT_EQ(bad.out().Read(), untouched);
  EXPECT_EQ(good.out().Read(), (std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0}));
  ASSERT_EQ(bad.Launch(stream), 0) << "the stream goes on";
  ExpectErrorOnce([this] { return aclrtSynchronizeStreamWithTimeout(stream, 60'000); });
}

TEST_F(TaskTest, OnlyTheFirstErrorIsKept) {
  Gradient first(kBad), second(-5);
  ASSERT_EQ(first.Launch(stream), 0);
  ASSERT_EQ(second.Launch(stream), 0);
  ExpectErrorOnce([this] { return aclrtSynchronizeStream(stream); });
}

TEST_F(TaskTest, DeviceAndEventBringItToo) {
  Gradient bad(kBad);
  aclrtEvent event = NewEvent();
  ASSERT_EQ(bad.Launch(stream), 0);
  ExpectErrorOnce([] { return aclrtSynchronizeDevice(); });
  ASSERT_EQ(bad.Launch(stream), 0);
  ExpectErrorOnce([] { return aclrtSynchronizeDeviceWithTimeout(60'000); });
  ASSERT_EQ(bad.Launch(stream), 0);
  ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
  ExpectErrorOnce([&] { return aclrtSynchronizeEvent(event); });
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

TEST_F(TaskTest, OneErrorForEachStream) {
  Gradient bad(kBad), another(kBad);
  aclrtStream other = NewStream();
  ASSERT_EQ(bad.Launch(stream), 0);
  ASSERT_EQ(another.Launch(other), 0);
  EXPECT_EQ(aclrtSynchronizeDevice(), kTaskError);
  EXPECT_EQ(aclrtSynchronizeDevice(), kTaskError) << "the other stream's";
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

TEST_F(TaskTest, QueriesTimeoutsAndCopiesLeaveItWhereItIs) {
  Gradient bad(kBad);
  ASSERT_EQ(bad.Launch(stream), 0);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) {
    ASSERT_EQ(aclrtStreamQuery(stream, &status), 0);
  }
  float value = 0;
  EXPECT_EQ(aclrtMemcpyAsync(&value, 4, bad.out().data(), 4, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
  {
    Gate gate(stream);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  }
  ExpectErrorOnce([this] { return aclrtSynchronizeStream(stream); });
}

TEST_F(TaskTest, DoesNotTravelAlongEvents) {
  Gradient bad(kBad), good(1);
  aclrtStream waiting = NewStream();
  aclrtEvent event = NewEvent();
  ASSERT_EQ(bad.Launch(stream), 0);
  ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(waiting, event), 0);
  ASSERT_EQ(good.Launch(waiting), 0);
  EXPECT_EQ(aclrtSynchronizeStream(waiting), 0) << TakeMessage();
  EXPECT_EQ(good.out().Read(), (std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(aclrtSynchronizeStream(stream), kTaskError);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtDestroyStream(waiting), 0);
}

TEST_F(TaskTest, StopModeDropsLaterTasksUntilTheErrorIsFetched) {
  Gradient bad(kBad), dropped(0), after(0);
  aclrtStream waiting = NewStream();
  aclrtEvent event = NewEvent();
  ASSERT_EQ(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), 0);
  ASSERT_EQ(bad.Launch(stream), 0);
  const auto untouched = dropped.out().Read();
  ASSERT_EQ(dropped.Launch(stream), 0);
  ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(waiting, event), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiting, 10'000), 0) << "nobody waits for ever";
  ExpectErrorOnce([this] { return aclrtSynchronizeStream(stream); });
  EXPECT_EQ(dropped.out().Read(), untouched);
  ASSERT_EQ(after.Launch(stream), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(after.out().Read()[0], 1.0F);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtDestroyStream(waiting), 0);
}

TEST_F(TaskTest, AnotherThreadFetchesItWithItsWords) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  Gradient bad(kBad);
  ASSERT_EQ(bad.Launch(stream), 0);
  std::thread([&] {
    ASSERT_EQ(aclrtSetCurrentContext(context), 0);
    ExpectErrorOnce([this] { return aclrtSynchronizeStream(stream); });
  }).join();
  EXPECT_EQ(TakeMessage(), "");
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
}

#if defined(__SSE2__)
// Whoever runs the task: this thread while it synchronises, or workers that it has started, which
// have its setting from birth. With that setting the sum of denormals would be 0.
TEST_F(TaskTest, RunsWithoutFlushToZeroAndRestoresTheThreadsSetting) {
  constexpr float kDenormal = 1e-40F;
  Gradient gradient(0, 2);
  const std::vector<float> values(8, kDenormal);
  ASSERT_EQ(aclrtMemcpy(gradient.grad().data(), 32, values.data(), 32, ACL_MEMCPY_HOST_TO_DEVICE),
            0);
  const unsigned int before = _mm_getcsr();
  const unsigned int flush = before | 0x8040 | 0x6000;  // flush to zero, denormals are zero, cut
  for (int i = 0; i < 50; ++i) {
    _mm_setcsr(flush);
    EXPECT_EQ(gradient.Launch(stream), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    EXPECT_EQ(_mm_getcsr() & ~0x3Fu, flush & ~0x3Fu);
    _mm_setcsr(before);
    const std::vector<float> out = gradient.out().Read();
    EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 4),
              std::vector<float>(4, kDenormal + kDenormal));
  }
}
#endif

}  // namespace
}  // namespace openaclnn
