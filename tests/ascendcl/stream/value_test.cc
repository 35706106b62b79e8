// SPDX-License-Identifier: Apache-2.0
// Numbers in device memory that streams write and wait for, outside of graphs and in them.
#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

class ValueTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    stream_ = NewStream();
    other_ = NewStream();
    number_ = std::make_unique<DeviceArray<uint64_t>>(2);
  }
  void TearDown() override {
    number_.reset();
    EXPECT_EQ(aclrtDestroyStream(other_), 0);
    EXPECT_EQ(aclrtDestroyStream(stream_), 0);
    RuntimeTest::TearDown();
  }

  void Wait(aclrtStream stream, uint64_t value = 1,
            uint32_t flag = ACL_STREAM_WAIT_VALUE_EQ) const {
    ASSERT_EQ(aclrtValueWait(number_->data(), value, flag, stream), 0) << TakeMessage();
  }
  void Write(aclrtStream stream, uint64_t value) const {
    ASSERT_EQ(aclrtValueWrite(number_->data(), value, 0, stream), 0) << TakeMessage();
  }
  static bool IsDone(aclrtStream stream, int32_t timeout = 20) {
    const int code = aclrtSynchronizeStreamWithTimeout(stream, timeout);
    EXPECT_TRUE(code == 0 || code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << TakeMessage();
    return code == 0;
  }

  aclrtStream stream_ = nullptr, other_ = nullptr;
  std::unique_ptr<DeviceArray<uint64_t>> number_;
};

TEST_F(ValueTest, AWriteLetsAWaitPass) {
  DeviceArray<uint8_t> bytes(8);
  Wait(stream_);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 8, 7, 8, stream_), 0);
  EXPECT_FALSE(IsDone(stream_)) << "nobody has written";
  EXPECT_EQ(bytes.Read()[0], 0);
  Write(other_, 2);
  EXPECT_TRUE(IsDone(other_, 10'000));
  EXPECT_FALSE(IsDone(stream_)) << "another number";
  Write(other_, 1);
  EXPECT_TRUE(IsDone(stream_, 10'000));
  EXPECT_EQ(bytes.Read()[0], 7);
  EXPECT_EQ(number_->Read(), (std::vector<uint64_t>{1, 0}));
  Wait(stream_);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0) << "it is there: " << TakeMessage();
}

TEST_F(ValueTest, WhateverWritesTheNumberIsSeen) {
  const uint64_t one = 1;
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 8), 0);
  *static_cast<uint64_t*>(pinned) = 3;
  Wait(stream_, 1);
  EXPECT_FALSE(IsDone(stream_));
  ASSERT_EQ(aclrtMemcpy(number_->data(), 8, &one, 8, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  EXPECT_TRUE(IsDone(stream_, 10'000));
  Wait(stream_, 0x0202020202020202);
  EXPECT_FALSE(IsDone(stream_));
  ASSERT_EQ(aclrtMemset(number_->data(), 8, 2, 8), 0);
  EXPECT_TRUE(IsDone(stream_, 10'000));
  Wait(stream_, 3);
  EXPECT_FALSE(IsDone(stream_));
  ASSERT_EQ(aclrtMemcpyAsync(number_->data(), 8, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, other_), 0);
  EXPECT_TRUE(IsDone(stream_, 10'000));
  EXPECT_EQ(aclrtSynchronizeStream(other_), 0);
  EXPECT_EQ(aclrtFreeHost(pinned), 0);
}

TEST_F(ValueTest, EachWayToCompare) {
  struct Row {
    uint32_t flag;
    uint64_t value, number;
    bool passes;
  };
  const Row rows[] = {
      {ACL_STREAM_WAIT_VALUE_GEQ, 5, 5, true},     {ACL_STREAM_WAIT_VALUE_GEQ, 5, 6, true},
      {ACL_STREAM_WAIT_VALUE_GEQ, 5, 4, false},    {ACL_STREAM_WAIT_VALUE_GEQ, kMost, 0, true},
      {ACL_STREAM_WAIT_VALUE_EQ, 5, 5, true},      {ACL_STREAM_WAIT_VALUE_EQ, 5, 6, false},
      {ACL_STREAM_WAIT_VALUE_AND, 6, 4, true},     {ACL_STREAM_WAIT_VALUE_AND, 6, 1, false},
      {ACL_STREAM_WAIT_VALUE_NOR, 6, 9, true},     {ACL_STREAM_WAIT_VALUE_NOR, 6, kMost, false},
      {ACL_STREAM_WAIT_VALUE_NOR, ~6ull, 6, false}};
  for (const Row& row : rows) {
    SCOPED_TRACE(testing::Message() << row.flag << " " << row.value << " " << row.number);
    const aclrtStream stream = NewStream();
    Write(other_, row.number);
    ASSERT_EQ(aclrtSynchronizeStream(other_), 0);
    Wait(stream, row.value, row.flag);
    EXPECT_EQ(IsDone(stream, row.passes ? 10'000 : 10), row.passes);
    EXPECT_EQ(aclrtDestroyStreamForce(stream), 0) << "one that waits ends, too";
  }
}

// As torch-npu's external events do: a wait, and a write that makes it the next one's turn.
TEST_F(ValueTest, AGraphWaitsInEachOfItsRuns) {
  DeviceArray<uint8_t> bytes(8);
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  Wait(stream_);
  Write(stream_, 0);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 8, 7, 8, stream_), 0);
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), 0) << TakeMessage();
  for (const aclrtStream on : {stream_, other_, stream_}) {
    ASSERT_EQ(aclrtMemset(bytes.data(), 8, 0, 8), 0);
    ASSERT_EQ(aclmdlRIExecuteAsync(model, on), 0) << TakeMessage();
    EXPECT_FALSE(IsDone(on));
    EXPECT_EQ(bytes.Read()[0], 0);
    Write(on == stream_ ? other_ : stream_, 1);
    EXPECT_TRUE(IsDone(on, 10'000));
    EXPECT_EQ(bytes.Read()[0], 7);
    EXPECT_EQ(number_->Read()[0], 0u);
    EXPECT_EQ(aclrtSynchronizeDevice(), 0) << TakeMessage();
  }
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

// Streams that hand the turn to each other, many times.
TEST_F(ValueTest, StreamsTakeTurns) {
  constexpr uint64_t kTurns = 500;
  for (uint64_t turn = 0; turn < kTurns; ++turn) {
    Wait(stream_, 2 * turn);
    Write(stream_, 2 * turn + 1);
    Wait(other_, 2 * turn + 1);
    Write(other_, 2 * turn + 2);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(other_), 0) << TakeMessage();
  EXPECT_EQ(number_->Read()[0], 2 * kTurns);
}

TEST_F(ValueTest, APrefetchChangesNothing) {
  DeviceArray<uint8_t> bytes(2 << 20, 5);
  ASSERT_EQ(aclrtCmoAsync(bytes.data(), 2 << 20, ACL_RT_CMO_TYPE_PREFETCH, stream_), 0)
      << TakeMessage();
  ASSERT_EQ(aclmdlRICaptureBegin(other_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  ASSERT_EQ(aclrtCmoAsync(bytes.data(), 1, ACL_RT_CMO_TYPE_PREFETCH, other_), 0) << TakeMessage();
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(other_, &model), 0) << TakeMessage();
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0) << TakeMessage();
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(2 << 20, 5));
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

}  // namespace
}  // namespace openaclnn
