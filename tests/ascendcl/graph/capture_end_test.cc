// SPDX-License-Identifier: Apache-2.0
// Captures: where they end, and with what.
#include <unistd.h>

#include <thread>

#include "tests/ascendcl/graph/capturing.h"

namespace openaclnn {
namespace {

TEST_F(CaptureTest, EndsWhereItBegan) {
  aclmdlRI model = nullptr;
  const auto end = [&](aclrtStream stream) {
    return [&, stream] { return aclmdlRICaptureEnd(stream, &model); };
  };
  ExpectRefused({"aclmdlRICaptureEnd", end(stream_), ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                 "stream capture is none"});
  Begin();
  Join();
  ExpectRefused({"aclmdlRICaptureEnd", end(side_), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                 "stream value is one that joined"});
  std::thread([&] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    ExpectRefused({"aclmdlRICaptureEnd", end(stream_), ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                   "calling thread is another"});
    EXPECT_EQ(aclrtResetDevice(0), 0);
  }).join();
  ExpectValid();  // a refused end ends nothing
  Begin(kRelaxed);
  std::thread([&] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), 0) << TakeMessage();
    EXPECT_EQ(aclrtResetDevice(0), 0);
  }).join();
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

TEST_F(CaptureTest, StreamsThatJoinComeBack) {
  const char* says = "stream capture has tasks of another stream";
  Begin();
  Join();
  EXPECT_EQ(StatusOf(side_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(Fill(side_), 0) << TakeMessage();
  ExpectEnd(ACL_ERROR_RT_STREAM_UNJOINED, says);
  ExpectFree();
  // A task behind the last event that comes back is one too many.
  Begin();
  Join();
  ASSERT_EQ(Fill(side_), 0);
  ASSERT_EQ(aclrtRecordEvent(event_, side_), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event_), 0);
  ASSERT_EQ(Fill(side_), 0);
  ExpectEnd(ACL_ERROR_RT_STREAM_UNJOINED, says);
  ExpectFree();
  // One that launches nothing has nothing to bring back.
  Begin();
  Join();
  ExpectValid();
}

TEST_F(CaptureTest, EndsWithItsStream) {
  for (const bool force : {false, true}) {
    const aclrtStream stream = NewStream();
    ASSERT_EQ(aclmdlRICaptureBegin(stream, kGlobal), 0);
    ASSERT_EQ(Fill(stream), 0);
    ASSERT_EQ(aclrtRecordEvent(event_, stream), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(side_, event_), 0);
    aclmdlRICaptureStatus status{};
    aclmdlRI model = nullptr;
    ASSERT_EQ(aclmdlRICaptureGetInfo(stream, &status, &model), 0);
    EXPECT_EQ(force ? aclrtDestroyStreamForce(stream) : aclrtDestroyStream(stream), 0)
        << TakeMessage();
    ExpectFree();
    ExpectRefused({"aclmdlRIDestroy", [&] { return aclmdlRIDestroy(model); },
                   ACL_ERROR_RT_INVALID_HANDLE, "modelRI value is a handle that was destroyed"});
  }
  const aclrtStream joined = NewStream();
  Begin();
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(joined, event_), 0);
  EXPECT_EQ(aclrtDestroyStream(joined), 0) << TakeMessage();
  ExpectInvalid();
}

TEST_F(CaptureTest, EndsWithItsContext) {
  aclrtContext first = nullptr, context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), 0);
  ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
  const aclrtStream stream = NewStream();
  ASSERT_EQ(aclmdlRICaptureBegin(stream, kGlobal), 0);
  ASSERT_EQ(Fill(stream), 0);
  ASSERT_EQ(aclrtDestroyContext(context), 0) << TakeMessage();
  ASSERT_EQ(aclrtSetCurrentContext(first), 0);
  ExpectFree();
  EXPECT_EQ(UnsafeCall(device_, kGlobal), 0) << "no capture is left to forbid it";
}

// A stream that stands still holds the reset of its device, which has passed the others.
TEST_F(CaptureTest, NoneBeginsWhileItsContextGoesAway) {
  aclrtContext first = nullptr, context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), 0);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  const aclrtStream held = NewStream(), passed = NewStream();
  Gate gate(held);
  std::thread other([&] {
    EXPECT_EQ(aclrtSetCurrentContext(context), 0);
    const auto begin = [&] { return aclmdlRICaptureBegin(passed, kGlobal); };
    aclmdlRI model = nullptr;
    for (int i = 0; i < 1000 && begin() == 0; ++i) {
      const int ended = aclmdlRICaptureEnd(passed, &model);
      if (ended == ACL_ERROR_RT_STREAM_NOT_CAPTURED) break;  // the reset came first
      EXPECT_EQ(ended, 0) << TakeMessage();
      const int destroyed = aclmdlRIDestroy(model);
      EXPECT_TRUE(destroyed == 0 || destroyed == ACL_ERROR_RT_INVALID_HANDLE) << TakeMessage();
      usleep(1000);
    }
    ExpectRefused({"aclmdlRICaptureBegin", begin, ACL_ERROR_RT_PARAM_INVALID,
                   "stream value is one that is being destroyed"});
    aclrtStream stream = nullptr;
    ExpectRefused({"aclrtCreateStream", [&] { return aclrtCreateStream(&stream); },
                   ACL_ERROR_RT_CONTEXT_NULL, "context of this thread is being destroyed"});
    gate.Open();
  });
  EXPECT_EQ(aclrtResetDevice(1), 0) << TakeMessage();
  other.join();
  ASSERT_EQ(aclrtSetCurrentContext(first), 0);
  EXPECT_EQ(UnsafeCall(device_, kGlobal), 0) << "no capture is left to forbid it";
}

}  // namespace
}  // namespace openaclnn
