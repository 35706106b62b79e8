// SPDX-License-Identifier: Apache-2.0
// What tests of captures share: two streams, an event, memory, and how a capture is left.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {

inline constexpr auto kGlobal = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
inline constexpr auto kThreadLocal = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
inline constexpr auto kRelaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;

class CaptureTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    stream_ = NewStream();
    side_ = NewStream();
    event_ = NewEvent(ACL_EVENT_SYNC);
    ASSERT_EQ(aclrtMalloc(&device_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtFree(device_), 0);
    EXPECT_EQ(aclrtDestroyEvent(event_), 0);
    EXPECT_EQ(aclrtDestroyStream(side_), 0);
    EXPECT_EQ(aclrtDestroyStream(stream_), 0);
    RuntimeTest::TearDown();
  }

  static constexpr size_t kBytes = 64;

  void Begin(aclmdlRICaptureMode mode = kGlobal) const {
    ASSERT_EQ(aclmdlRICaptureBegin(stream_, mode), 0) << TakeMessage();
  }
  int Fill(aclrtStream stream, int value = 1) const {
    return aclrtMemsetAsync(device_, kBytes, value, kBytes, stream);
  }
  static aclmdlRICaptureStatus StatusOf(aclrtStream stream) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureGetInfo(stream, &status, &model), 0) << TakeMessage();
    EXPECT_EQ(model != nullptr, status != ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    return status;
  }
  /// The capture ends well.
  void ExpectValid() const {
    EXPECT_EQ(StatusOf(stream_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), 0) << TakeMessage();
    EXPECT_EQ(aclmdlRIDestroy(model), 0) << TakeMessage();
    ExpectFree();
  }
  /// The capture has been made invalid: launches say so and why, and its end.
  void ExpectInvalid(const char* why = "") const {
    EXPECT_EQ(StatusOf(stream_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    const int invalidated = ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;
    const char* const says = "stream capture is invalid since a call before was refused (";
    for (const char* part : {says, why}) {
      ExpectRefused({"aclrtMemsetAsync", [this] { return Fill(stream_); }, invalidated, part});
    }
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), invalidated);
    EXPECT_EQ(model, nullptr);
    const std::string message = TakeMessage();
    for (const char* part : {"aclmdlRICaptureEnd: ", says, why}) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    ExpectFree();
  }
  void ExpectEnd(int code, const char* says) const {
    aclmdlRI model = nullptr;
    ExpectRefused(
        {"aclmdlRICaptureEnd", [&] { return aclmdlRICaptureEnd(stream_, &model); }, code, says});
    EXPECT_EQ(model, nullptr);
  }
  /// No stream is captured: all do what they are asked.
  void ExpectFree() const {
    for (const aclrtStream stream : {stream_, side_, aclrtStream{nullptr}}) {
      EXPECT_EQ(StatusOf(stream), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
      EXPECT_EQ(Fill(stream, 9), 0) << TakeMessage();
      EXPECT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
    }
    EXPECT_EQ(aclrtSynchronizeDevice(), 0) << TakeMessage();
  }
  void Join() const {
    ASSERT_EQ(aclrtRecordEvent(event_, stream_), 0) << TakeMessage();
    ASSERT_EQ(aclrtStreamWaitEvent(side_, event_), 0) << TakeMessage();
  }

  aclrtStream stream_ = nullptr, side_ = nullptr;
  aclrtEvent event_ = nullptr;
  void* device_ = nullptr;
};

/// The code of a call that modes may forbid, of a thread in the mode.
inline int UnsafeCall(void* device, aclmdlRICaptureMode mode) {
  EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), 0);
  unsigned char byte = 1;
  const int code = aclrtMemcpy(device, 1, &byte, 1, ACL_MEMCPY_HOST_TO_DEVICE);
  EXPECT_EQ(aclrtMemcpy2d(device, 1, &byte, 1, 1, 1, ACL_MEMCPY_HOST_TO_DEVICE), code);
  EXPECT_EQ(aclrtMemset(device, 1, 0, 1), code);
  EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), 0);
  return code;
}

}  // namespace openaclnn
