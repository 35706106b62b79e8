// SPDX-License-Identifier: Apache-2.0
// Captures: what they forbid, and how they fail.
#include <dlfcn.h>

#include <string>
#include <thread>

#include "ascendcl/interface.h"
#include "common/text.h"
#include "tests/ascendcl/graph/capturing.h"

namespace openaclnn {
namespace {

void Nothing(void*) {}

TEST_F(CaptureTest, TellsOfItself) {
  EXPECT_EQ(StatusOf(stream_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  Begin();
  aclmdlRICaptureStatus status{};
  aclmdlRI model = nullptr, ended = nullptr;
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &status, &model), 0);
  EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(StatusOf(side_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  const int captured = ACL_ERROR_RT_MODEL_CAPTURED;
  const char* says = "modelRI state is being captured";
  ExpectRefused({"aclmdlRIDestroy", [&] { return aclmdlRIDestroy(model); }, captured, says});
  ExpectRefused(
      {"aclmdlRIExecuteAsync", [&] { return aclmdlRIExecuteAsync(model, side_); }, captured, says});
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &ended), 0);
  EXPECT_EQ(ended, model);
  char name[8] = {};
  ExpectRefused({"aclmdlRISetName", [&] { return aclmdlRISetName(model, nullptr); },
                 ACL_ERROR_INVALID_PARAM, "name value is null"});
  ExpectRefused({"aclmdlRIGetName", [&] { return aclmdlRIGetName(model, 8, nullptr); },
                 ACL_ERROR_INVALID_PARAM, "name value is null"});
  ExpectRefused({"aclmdlRIGetName", [&] { return aclmdlRIGetName(model, 0, name); },
                 ACL_ERROR_RT_PARAM_INVALID, "maxLen value is 0"});
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

// Each in a capture of its own, which it makes invalid.
TEST_F(CaptureTest, ForbidsWhatWouldWait) {
  const int captured = ACL_ERROR_RT_STREAM_CAPTURED, record = ACL_ERROR_RT_EVENT_CAPTURED;
  const std::string device =
      Concat("device use is to be synchronised while stream ", stream_,
             " is captured, expected aclmdlRICaptureEnd of that stream before");
  const aclrtEvent timed = NewEvent();
  aclrtStreamStatus stream{};
  aclrtEventRecordedStatus recorded{};
  aclrtEventStatus old{};
  aclrtEventWaitStatus waited{};
  float ms = 0;
  uint64_t microseconds = 0;
  unsigned char host[kBytes] = {};
  const Refusal refusals[] = {
      {"aclrtSynchronizeStream", [&] { return aclrtSynchronizeStream(stream_); }, captured,
       "stream use is to be synchronised"},
      {"aclrtSynchronizeStreamWithTimeout",
       [&] { return aclrtSynchronizeStreamWithTimeout(stream_, 1); }, captured, "synchronised"},
      {"aclrtStreamQuery", [&] { return aclrtStreamQuery(stream_, &stream); }, captured,
       "stream use is to be queried"},
      {"aclrtSynchronizeDevice", [] { return aclrtSynchronizeDevice(); },
       ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, device.c_str()},
      {"aclrtSynchronizeDeviceWithTimeout", [] { return aclrtSynchronizeDeviceWithTimeout(1); },
       ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, device.c_str()},
      {"aclrtSynchronizeEvent", [&] { return aclrtSynchronizeEvent(event_); }, record,
       "event record is one of a capture"},
      {"aclrtSynchronizeEventWithTimeout",
       [&] { return aclrtSynchronizeEventWithTimeout(event_, 1); }, record, "event record is"},
      {"aclrtQueryEvent", [&] { return aclrtQueryEvent(event_, &old); }, record, "event record is"},
      {"aclrtQueryEventStatus", [&] { return aclrtQueryEventStatus(event_, &recorded); }, record,
       "event record is"},
      {"aclrtQueryEventWaitStatus", [&] { return aclrtQueryEventWaitStatus(event_, &waited); },
       record, "event record is"},
      {"aclrtEventElapsedTime", [&] { return aclrtEventElapsedTime(&ms, timed, event_); }, record,
       "endEvent record is"},
      {"aclrtEventGetTimestamp", [&] { return aclrtEventGetTimestamp(event_, &microseconds); },
       record, "event record is"},
      {"aclrtMemcpyAsync",
       [&] {
         return aclrtMemcpyAsync(device_, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
       },
       ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, "host memory is pageable"},
      {"aclmdlRICaptureBegin", [&] { return aclmdlRICaptureBegin(stream_, kGlobal); }, captured,
       "stream capture has begun before"},
  };
  for (const auto mode : {kGlobal, kThreadLocal, kRelaxed}) {
    for (const Refusal& refusal : refusals) {
      SCOPED_TRACE(mode);
      Begin(mode);
      ASSERT_EQ(aclrtRecordEvent(event_, stream_), 0) << TakeMessage();
      ExpectRefused(refusal);
      ExpectInvalid(refusal.says);
    }
  }
  EXPECT_EQ(aclrtDestroyEvent(timed), 0);
}

TEST_F(CaptureTest, ForbidsTheDefaultStream) {
  const int implicit = ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT;
  const char* says = "stream value is the default stream";
  const std::string named =
      Concat(says, ", expected another while stream ", stream_, " of its context is captured");
  const Refusal refusals[] = {
      {"aclrtMemsetAsync", [&] { return Fill(nullptr); }, implicit, named.c_str()},
      {"aclrtSynchronizeStream", [] { return aclrtSynchronizeStream(nullptr); }, implicit, says},
      {"aclrtRecordEvent", [&] { return aclrtRecordEvent(event_, nullptr); }, implicit, says},
      {"aclrtStreamWaitEvent", [&] { return aclrtStreamWaitEvent(nullptr, event_); }, implicit,
       says},
      {"aclrtLaunchHostFunc", [] { return aclrtLaunchHostFunc(nullptr, Nothing, nullptr); },
       implicit, says},
      {"aclmdlRICaptureBegin", [] { return aclmdlRICaptureBegin(nullptr, kRelaxed); }, implicit,
       says},
  };
  for (const Refusal& refusal : refusals) {
    Begin();
    ExpectRefused(refusal);
    ExpectInvalid();
  }
  ExpectRefused(refusals[5]);  // also when nothing is captured
  aclrtContext other = nullptr, first = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), 0);
  ASSERT_EQ(aclrtCreateContext(&other, 0), 0);
  ASSERT_EQ(aclrtSetCurrentContext(first), 0);
  Begin();
  ASSERT_EQ(aclrtSetCurrentContext(other), 0);
  EXPECT_EQ(Fill(nullptr), 0) << "of another context: " << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ASSERT_EQ(aclrtSetCurrentContext(first), 0);
  ExpectValid();
  EXPECT_EQ(aclrtDestroyContext(other), 0);
}

TEST_F(CaptureTest, ModesForbidWhatIsNotSafe) {
  constexpr int kRefused = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
  struct Case {
    aclmdlRICaptureMode capture, thread;
    int own, other;  // code of the thread that captures, and of another
  };
  const Case cases[] = {
      {kGlobal, kGlobal, kRefused, kRefused},
      {kGlobal, kThreadLocal, kRefused, 0},
      {kGlobal, kRelaxed, 0, 0},
      {kThreadLocal, kGlobal, kRefused, 0},
      {kThreadLocal, kThreadLocal, kRefused, 0},
      {kThreadLocal, kRelaxed, 0, 0},
      {kRelaxed, kGlobal, 0, 0},
      {kRelaxed, kThreadLocal, 0, 0},
      {kRelaxed, kRelaxed, 0, 0},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(testing::Message() << row.capture << " " << row.thread);
    Begin(row.capture);
    EXPECT_EQ(UnsafeCall(device_, row.thread), row.own);
    row.own == 0 ? ExpectValid() : ExpectInvalid();
    Begin(row.capture);
    std::thread([&] { EXPECT_EQ(UnsafeCall(device_, row.thread), row.other); }).join();
    row.other == 0 ? ExpectValid() : ExpectInvalid();
  }
  unsigned char byte = 1;
  const auto copy = [&] {
    return aclrtMemcpyAsync(device_, 1, &byte, 1, ACL_MEMCPY_HOST_TO_DEVICE, side_);
  };
  Begin();
  ExpectRefused({"aclrtMemcpyAsync", copy, kRefused, "the mode of a capture forbids"});
  ExpectInvalid();
  EXPECT_EQ(copy(), 0) << TakeMessage();
}

TEST_F(CaptureTest, ExchangesTheModeOfAThread) {
  aclmdlRICaptureMode mode = kRelaxed;
  ASSERT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), 0);
  EXPECT_EQ(mode, kGlobal);
  std::thread([] {
    aclmdlRICaptureMode own = kThreadLocal;
    EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&own), 0);
    EXPECT_EQ(own, kGlobal);
  }).join();
  ASSERT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), 0);
  EXPECT_EQ(mode, kRelaxed);
}

TEST_F(CaptureTest, RecordsOutsideAndInsideStayApart) {
  const int outside = ACL_ERROR_RT_CAPTURE_DEPENDENCY, ended = ACL_ERROR_RT_EVENT_CAPTURED;
  const auto wait = [&](aclrtStream stream) {
    return [=, this] { return aclrtStreamWaitEvent(stream, event_); };
  };
  const auto reset = [&](aclrtStream stream) {
    return [=, this] { return aclrtResetEvent(event_, stream); };
  };
  ASSERT_EQ(aclrtRecordEvent(event_, side_), 0);
  Begin();
  ExpectRefused({"aclrtStreamWaitEvent", wait(stream_), outside, "event record is outside"});
  ExpectInvalid();
  Begin();
  ExpectRefused({"aclrtResetEvent", reset(stream_), outside, "event record is outside"});
  ExpectInvalid();
  Begin();
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), 0);
  EXPECT_EQ(aclrtResetEvent(event_, stream_), 0) << TakeMessage();
  ExpectValid();
  ExpectRefused({"aclrtStreamWaitEvent", wait(side_), ended, "event record is one of a capture"});
  ExpectRefused({"aclrtResetEvent", reset(side_), ended, "event record is one of a capture"});
  ASSERT_EQ(aclrtRecordEvent(event_, side_), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event_), 0) << "recorded anew: " << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeEvent(event_), 0);
  const aclrtEvent fresh = NewEvent(ACL_EVENT_SYNC);
  Begin();
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, fresh), 0) << "was never recorded: " << TakeMessage();
  ExpectValid();
  EXPECT_EQ(aclrtDestroyEvent(fresh), 0);
}

TEST_F(CaptureTest, TwoStayApart) {
  Begin();
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), 0);
  ASSERT_EQ(aclmdlRICaptureBegin(side_, kGlobal), 0) << TakeMessage();
  ExpectRefused({"aclrtStreamWaitEvent", [&] { return aclrtStreamWaitEvent(side_, event_); },
                 ACL_ERROR_STREAM_CAPTURE_CONFLICT, "event record is of another capture"});
  aclmdlRI model = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(side_, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(Fill(nullptr), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT) << "one is left";
  ExpectInvalid();
}

TEST_F(CaptureTest, ExternalEventsAreRefused) {
  const aclrtEvent event = NewEvent(ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL);
  const int unsupported = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  Begin();
  ExpectRefused({"aclrtRecordEvent", [&] { return aclrtRecordEvent(event, stream_); }, unsupported,
                 "event flag is ACL_EVENT_EXTERNAL"});
  ExpectInvalid();
  Begin();
  ExpectRefused({"aclrtStreamWaitEvent", [&] { return aclrtStreamWaitEvent(stream_, event); },
                 unsupported, "event flag is ACL_EVENT_EXTERNAL"});
  ExpectInvalid();
  Begin();
  ExpectRefused({"aclrtResetEvent", [&] { return aclrtResetEvent(event, stream_); }, unsupported,
                 "event flag is ACL_EVENT_EXTERNAL"});
  ExpectInvalid();
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

// Clients pass over the code of a refusal that is one of a feature: torch-npu makes one warning of
// all. The end of the capture names the function.
TEST_F(CaptureTest, WhatIsNotSupportedMakesItInvalid) {
  using OnSixth = int (*)(void*, uint32_t, void*, uint32_t, void*, aclrtStream);
  const auto find = [](const char* name) {
    void* const found = dlsym(RTLD_DEFAULT, name);
    EXPECT_NE(found, nullptr) << name;
    return found;
  };
  const int unsupported = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  const auto launch = reinterpret_cast<OnSixth>(find("rtKernelLaunch"));
  const auto run = [&] { return launch(nullptr, 1, nullptr, 0, nullptr, stream_); };
  Begin();
  ExpectRefused({"rtKernelLaunch", run, unsupported, "is not supported"});
  ExpectInvalid("rtKernelLaunch");
  ExpectRefused({"rtKernelLaunch", run, unsupported, "is not supported"});
  ExpectRefused({"rtKernelLaunch", [&] { return aclrtSynchronizeStream(stream_); },
                 ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, "stream task is one of rtKernelLaunch"});
}

// As collectives are: they park, and have to be made anew for each run.
TEST_F(CaptureTest, TasksThatRunOnceAreRefused) {
  static int released = 0;
  released = 0;
  const OpenaclnnTask task = {
      .name = "once",
      .run = [](void*, OpenaclnnMessage*) { return 0; },
      .release = [](void*) { ++released; },
      .state = nullptr,
      .arguments = nullptr,
      .each_pin = nullptr,
  };
  OpenaclnnMessage message;
  Begin();
  EXPECT_EQ(openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE)->submit(stream_, &task, &message),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_STREQ(message.text, "task of once cannot be captured, expected it outside of captures");
  EXPECT_EQ(released, 0) << "it is still the caller's";
  ExpectInvalid();
}

TEST_F(CaptureTest, ArgumentsAreChecked) {
  const int null = ACL_ERROR_INVALID_PARAM, param = ACL_ERROR_RT_PARAM_INVALID;
  const auto bad = static_cast<aclmdlRICaptureMode>(3);
  aclmdlRI model = nullptr;
  aclmdlRICaptureStatus status{};
  ExpectRefused({"aclmdlRICaptureBegin", [&] { return aclmdlRICaptureBegin(stream_, bad); }, param,
                 "mode value is 3"});
  Begin();
  ExpectRefused({"aclmdlRICaptureEnd", [&] { return aclmdlRICaptureEnd(stream_, nullptr); }, null,
                 "modelRI value is null"});
  ExpectRefused({"aclmdlRICaptureGetInfo",
                 [&] { return aclmdlRICaptureGetInfo(stream_, nullptr, &model); }, null,
                 "status value is null"});
  ExpectRefused({"aclmdlRICaptureGetInfo",
                 [&] { return aclmdlRICaptureGetInfo(stream_, &status, nullptr); }, null,
                 "modelRI value is null"});
  ExpectRefused({"aclmdlRICaptureThreadExchangeMode",
                 [] { return aclmdlRICaptureThreadExchangeMode(nullptr); }, null,
                 "mode value is null"});
  ExpectRefused({"aclmdlRICaptureThreadExchangeMode",
                 [&] {
                   aclmdlRICaptureMode mode = bad;
                   return aclmdlRICaptureThreadExchangeMode(&mode);
                 },
                 param, "mode value is 3"});
  ExpectRefused({"aclrtMemsetAsync",
                 [&] { return aclrtMemsetAsync(device_, 1, 0, kBytes, stream_); }, param,
                 "count value is"});
  ExpectValid();  // what is no use of the stream leaves the capture alone
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, kGlobal), 0);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), 0);
  Begin();
  ExpectRefused({"aclmdlRIExecuteAsync", [&] { return aclmdlRIExecuteAsync(model, stream_); },
                 ACL_ERROR_RT_STREAM_CAPTURED, "stream use is to run a model running instance"});
  ExpectInvalid();
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

}  // namespace
}  // namespace openaclnn
