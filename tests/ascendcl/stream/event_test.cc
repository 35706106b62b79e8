// SPDX-License-Identifier: Apache-2.0
// Events: record, wait, query, time, reset.
#include <thread>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

class EventTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    first = NewStream();
    second = NewStream();
    event = NewEvent();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyEvent(event), 0);
    EXPECT_EQ(aclrtDestroyStream(first), 0);
    EXPECT_EQ(aclrtDestroyStream(second), 0);
    RuntimeTest::TearDown();
  }
  /// All three queries at once; they must agree.
  static bool Reached(aclrtEvent event) {
    aclrtEventRecordedStatus recorded{};
    aclrtEventStatus status{};
    EXPECT_EQ(aclrtQueryEventStatus(event, &recorded), 0) << TakeMessage();
    EXPECT_EQ(aclrtQueryEvent(event, &status), 0) << TakeMessage();
    EXPECT_EQ(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE, status == ACL_EVENT_STATUS_COMPLETE);
    return recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }
  static bool Waited(aclrtEvent event) {
    aclrtEventWaitStatus status{};
    EXPECT_EQ(aclrtQueryEventWaitStatus(event, &status), 0) << TakeMessage();
    return status == ACL_EVENT_WAIT_STATUS_COMPLETE;
  }
  aclrtStream first = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
};

TEST_F(EventTest, NumbersOfTheQueries) {
  EXPECT_EQ(ACL_EVENT_RECORDED_STATUS_COMPLETE, 1);
  EXPECT_EQ(ACL_EVENT_STATUS_COMPLETE, 0);
  EXPECT_EQ(ACL_EVENT_WAIT_STATUS_COMPLETE, 0);
}

TEST_F(EventTest, NeverRecordedCountsAsReached) {
  EXPECT_TRUE(Reached(event));
  EXPECT_TRUE(Waited(event));
  EXPECT_EQ(aclrtSynchronizeEvent(event), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(first, event), 0);
  EXPECT_EQ(aclrtSynchronizeStream(first), 0);
}

TEST_F(EventTest, WaitOrdersStreams) {
  DeviceArray<uint8_t> bytes(64);
  Gate gate(first);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 1, 64, first), 0);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 2, 64, second), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_FALSE(Reached(event));
  EXPECT_FALSE(Waited(event));
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(second), 0);
  EXPECT_TRUE(Reached(event));
  EXPECT_TRUE(Waited(event));
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 2));
}

TEST_F(EventTest, WaitSpeaksOfTheRecordBeforeIt) {
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
  ASSERT_EQ(aclrtSynchronizeStream(second), 0);
  Gate gate(first);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  EXPECT_FALSE(Reached(event)) << "a later record moves the mark";
  EXPECT_TRUE(Waited(event));
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 10'000), 0) << "an earlier wait is done";
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(event), 0);
  EXPECT_TRUE(Reached(event));
}

TEST_F(EventTest, RecordElsewhereDoesNotEndAnEarlierWait) {
  Gate gate(first);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), 0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_TRUE(Reached(event)) << "the last record is";
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
      << "the record that the wait was made for is not";
  EXPECT_FALSE(Waited(event));
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(second), 0);
  EXPECT_TRUE(Waited(event));
}

TEST_F(EventTest, OlderRecordThatComesLateChangesNothing) {
  aclrtEvent start = NewEvent();
  float before = 0, after = 0;
  Gate gate(first);
  ASSERT_EQ(aclrtRecordEvent(start, second), 0);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtRecordEvent(event, second), 0);
  ASSERT_EQ(aclrtSynchronizeEvent(event), 0);
  ASSERT_EQ(aclrtEventElapsedTime(&before, start, event), 0) << TakeMessage();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(first), 0);
  ASSERT_EQ(aclrtEventElapsedTime(&after, start, event), 0) << TakeMessage();
  EXPECT_EQ(before, after);
  EXPECT_EQ(aclrtDestroyEvent(start), 0);
}

TEST_F(EventTest, DestroyReleasesThoseThatWait) {
  aclrtEvent gone = NewEvent();
  Gate gate(first);
  ASSERT_EQ(aclrtRecordEvent(gone, first), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, gone), 0);
  ASSERT_EQ(aclrtDestroyEvent(gone), 0) << "at once, though its mark is not reached";
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 10'000), 0);
  EXPECT_EQ(aclrtDestroyEvent(gone), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(EventTest, ElapsedTime) {
  aclrtEvent end = NewEvent(), timeless = NewEvent(ACL_EVENT_SYNC);
  float ms = -1;
  const auto elapsed = [&](aclrtEvent from, aclrtEvent to) {
    return [&ms, from, to] { return aclrtEventElapsedTime(&ms, from, to); };
  };
  const char* api = "aclrtEventElapsedTime";
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtRecordEvent(timeless, first), 0);
  ASSERT_EQ(aclrtSynchronizeStream(first), 0);
  ExpectRefused({api, elapsed(event, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "endEvent time"});
  ExpectRefused(
      {api, elapsed(timeless, event), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "startEvent time"});
  {
    Gate gate(first);
    ASSERT_EQ(aclrtRecordEvent(end, first), 0);
    ExpectRefused({api, elapsed(event, end), ACL_ERROR_RT_EVENT_NOT_COMPLETE, "endEvent is not"});
    ExpectRefused({api, elapsed(end, event), ACL_ERROR_RT_EVENT_NOT_COMPLETE, "startEvent is not"});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(ms, -1) << "a refusal writes nothing";
  ASSERT_EQ(aclrtSynchronizeEvent(end), 0);
  ASSERT_EQ(aclrtEventElapsedTime(&ms, event, end), 0);
  EXPECT_GE(ms, 19.0F);
  EXPECT_LT(ms, 60'000.0F);
  ASSERT_EQ(aclrtEventElapsedTime(&ms, end, end), 0);
  EXPECT_EQ(ms, 0.0F);
  ExpectRefused({api, elapsed(end, event), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, "endEvent time"});
  EXPECT_EQ(aclrtDestroyEvent(end), 0);
  EXPECT_EQ(aclrtDestroyEvent(timeless), 0);
}

TEST_F(EventTest, TimeoutLeavesTheRecord) {
  DeviceArray<uint8_t> bytes(64);
  Gate gate(first);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 3, 64, first), 0);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  const auto begin = std::chrono::steady_clock::now();
  ExpectRefused({"aclrtSynchronizeEventWithTimeout",
                 [&] { return aclrtSynchronizeEventWithTimeout(event, 30); },
                 ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "event is not done after 30 ms"});
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, 60'000), 0) << TakeMessage();
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 3));
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, 0), 0);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, -1), 0);
}

TEST_F(EventTest, Timestamps) {
  aclrtEvent later = NewEvent(), timeless = NewEvent(ACL_EVENT_SYNC);
  uint64_t begin = 0, end = 0;
  const char* api = "aclrtEventGetTimestamp";
  ExpectRefused({api, [&] { return aclrtEventGetTimestamp(event, &begin); },
                 ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "event time is not kept"});
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtRecordEvent(timeless, first), 0);
  ASSERT_EQ(aclrtSynchronizeStream(first), 0);
  ExpectRefused({api, [&] { return aclrtEventGetTimestamp(timeless, &begin); },
                 ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "event time is not kept"});
  {
    Gate gate(first);
    ASSERT_EQ(aclrtRecordEvent(later, first), 0);
    ExpectRefused({api, [&] { return aclrtEventGetTimestamp(later, &end); },
                   ACL_ERROR_RT_EVENT_NOT_COMPLETE, "event is not reached"});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_EQ(aclrtSynchronizeEvent(later), 0);
  ASSERT_EQ(aclrtEventGetTimestamp(event, &begin), 0) << TakeMessage();
  ASSERT_EQ(aclrtEventGetTimestamp(later, &end), 0) << TakeMessage();
  float ms = 0;
  ASSERT_EQ(aclrtEventElapsedTime(&ms, event, later), 0);
  EXPECT_NEAR(static_cast<double>(end - begin), ms * 1e3, 2 + ms * 1e-3);
  EXPECT_EQ(aclrtDestroyEvent(later), 0);
  EXPECT_EQ(aclrtDestroyEvent(timeless), 0);
}

TEST_F(EventTest, FlagsDecideWhatItIsFor) {
  aclrtEvent plain = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&plain), 0);
  aclrtEvent no_sync = NewEvent(ACL_EVENT_TIME_LINE);
  const int code = ACL_ERROR_RT_PARAM_INVALID;
  const char* says = "expected an event made with ACL_EVENT_SYNC";
  const char* flagged_says =
      "to be reset, expected an event made by aclrtCreateEventWithFlag or "
      "aclrtCreateEventExWithFlag with ACL_EVENT_SYNC";
  for (aclrtEvent made : {plain, no_sync}) {
    ExpectRefused(
        {"aclrtResetEvent", [&] { return aclrtResetEvent(made, first); }, code, flagged_says});
  }
  ExpectRefused(
      {"aclrtStreamWaitEvent", [&] { return aclrtStreamWaitEvent(first, no_sync); }, code, says});
  EXPECT_EQ(aclrtStreamWaitEvent(first, plain), 0);
  EXPECT_EQ(aclrtRecordEvent(no_sync, first), 0);
  EXPECT_EQ(aclrtSynchronizeEvent(no_sync), 0);
  aclrtEvent flagged = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&flagged, 1 | 2 | 8 | 0x20 | 0x40), 0);
  EXPECT_EQ(aclrtResetEvent(flagged, first), 0);
  for (aclrtEvent made : {plain, no_sync, flagged}) EXPECT_EQ(aclrtDestroyEvent(made), 0);
}

TEST_F(EventTest, ResetForgetsTheMark) {
  float ms = 0;
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtResetEvent(event, first), 0);
  ASSERT_EQ(aclrtSynchronizeStream(first), 0);
  EXPECT_TRUE(Reached(event));
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event, event), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  // The record comes after the reset, so it stays.
  Gate gate(first);
  ASSERT_EQ(aclrtResetEvent(event, first), 0);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(first), 0);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event, event), 0) << TakeMessage();
}

// A wait that is still queued stands for its record, whatever the event was used for since.
TEST_F(EventTest, OldWaitIgnoresRecordsAfterAReset) {
  aclrtEvent hold = NewEvent();
  aclrtStream third = NewStream();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), third), 0);
  ASSERT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, third), 0);
  ASSERT_EQ(aclrtRecordEvent(hold, third), 0);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, hold), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
  ASSERT_EQ(aclrtResetEvent(event, first), 0);
  ASSERT_EQ(aclrtSynchronizeStream(first), 0);
  Gate gate(first);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtProcessReport(10'000), 0);  // second comes to its wait for event only now
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 5'000), 0)
      << "the wait stands for a record that came later";
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(first), 0);
  EXPECT_EQ(aclrtDestroyStream(third), 0);
  EXPECT_EQ(aclrtDestroyEvent(hold), 0);
}

TEST_F(EventTest, AcrossDevices) {
  DeviceArray<uint8_t> bytes(64);
  Gate gate(first);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 1, 64, first), 0);
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(nullptr, event), 0);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 2, 64, nullptr), 0);
  gate.Open();
  ASSERT_EQ(aclrtResetDevice(1), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 2));
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

}  // namespace
}  // namespace openaclnn
