// SPDX-License-Identifier: Apache-2.0
// Task groups: graphs whose tasks later launches replace, and updates that are refused.
#include <string>
#include <vector>

#include "tests/ascendcl/graph/capturing.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/threads.h"

namespace openaclnn {
namespace {

constexpr int kState = ACL_ERROR_STREAM_TASK_GROUP_STATUS;
constexpr int kFailed = ACL_ERROR_RT_MODEL_UPDATE_FAILED;

class TaskGroupTest : public CaptureTest {
 protected:
  void BeginGroup() const { ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), 0) << TakeMessage(); }
  aclrtTaskGrp EndGroup() const {
    aclrtTaskGrp group = nullptr;
    EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), 0) << TakeMessage();
    EXPECT_NE(group, nullptr);
    return group;
  }
  aclmdlRI EndCapture() const {
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), 0) << TakeMessage();
    return model;
  }
  /// A graph of one fill by 1, which is a group.
  aclmdlRI CaptureFill(aclrtTaskGrp* group) const {
    Begin();
    BeginGroup();
    EXPECT_EQ(Fill(stream_), 0) << TakeMessage();
    *group = EndGroup();
    return EndCapture();
  }
  void BeginUpdate(aclrtTaskGrp group) const {
    ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(side_, group), 0) << TakeMessage();
  }
  void EndUpdate() const { ASSERT_EQ(aclmdlRICaptureTaskUpdateEnd(side_), 0) << TakeMessage(); }
  void Update(aclrtTaskGrp group, int value) const {
    BeginUpdate(group);
    EXPECT_EQ(Fill(side_, value), 0) << TakeMessage();
    EndUpdate();
  }
  void Finish(aclrtStream stream) const {
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
  }
  int Byte() const {
    unsigned char byte = 0;
    EXPECT_EQ(aclrtMemcpy(&byte, 1, device_, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0) << TakeMessage();
    return byte;
  }
  /// What an execution fills with.
  int Run(aclmdlRI model) const {
    EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), 0) << TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0) << TakeMessage();
    return Byte();
  }
  void ExpectUpdateFails(const char* says) const {
    ExpectRefused({"aclmdlRICaptureTaskUpdateEnd",
                   [this] { return aclmdlRICaptureTaskUpdateEnd(side_); }, kFailed, says});
    EXPECT_EQ(Fill(side_, 9), 0) << "it runs again what is launched: " << TakeMessage();
    Finish(side_);
    EXPECT_EQ(Byte(), 9);
  }
};

TEST_F(TaskGroupTest, LaterLaunchesReplaceTheTasks) {
  aclrtTaskGrp group = nullptr;
  const aclmdlRI model = CaptureFill(&group);
  EXPECT_EQ(Run(model), 1);
  for (const int value : {2, 3}) {
    Update(group, value);
    Finish(side_);
    EXPECT_NE(Byte(), value) << "an update runs nothing";
    EXPECT_EQ(Run(model), value);
    EXPECT_EQ(Run(model), value) << "it stays";
  }
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

// As servers do: the graph is launched, and waits for what is updated meanwhile.
TEST_F(TaskGroupTest, AnExecutionThatWaitsRunsWhatWasUpdatedMeanwhile) {
  DeviceArray<uint64_t> flag(1, 0);
  Begin();
  ASSERT_EQ(aclrtValueWait(flag.data(), 1, ACL_STREAM_WAIT_VALUE_EQ, stream_), 0) << TakeMessage();
  ASSERT_EQ(aclrtValueWrite(flag.data(), 0, 0, stream_), 0) << TakeMessage();
  BeginGroup();
  ASSERT_EQ(Fill(stream_), 0);
  const aclrtTaskGrp group = EndGroup();
  const aclmdlRI model = EndCapture();
  for (int value = 5; value < 9; ++value) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), 0) << TakeMessage();
    Update(group, value);
    ASSERT_EQ(aclrtValueWrite(flag.data(), 1, 0, side_), 0) << TakeMessage();
    Finish(stream_);
    Finish(side_);
    EXPECT_EQ(Byte(), value);
  }
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

// Where nothing orders both, an execution has either form, and whole.
TEST_F(TaskGroupTest, UpdatesBesideExecutionsAreHarmless) {
  aclrtTaskGrp group = nullptr;
  const aclmdlRI model = CaptureFill(&group);
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), 0) << TakeMessage();
    Update(group, 2 + i % 2);
  }
  Finish(side_);
  Finish(stream_);
  EXPECT_EQ(Run(model), 3);
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

TEST_F(TaskGroupTest, OnlyTheTasksOfTheGroupAreReplaced) {
  DeviceArray<uint8_t> other(kBytes, 0);
  const auto fill_other = [&](aclrtStream stream, int value) {
    return aclrtMemsetAsync(other.data(), kBytes, value, kBytes, stream);
  };
  Begin();
  ASSERT_EQ(Fill(stream_, 4), 0);
  BeginGroup();
  ASSERT_EQ(fill_other(stream_, 5), 0);
  ASSERT_EQ(aclrtMemcpyAsync(device_, 1, other.data(), 1, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), 0);
  const aclrtTaskGrp first = EndGroup();
  BeginGroup();
  const aclrtTaskGrp empty = EndGroup();
  EXPECT_NE(first, empty);
  const aclmdlRI model = EndCapture();
  EXPECT_EQ(Run(model), 5);
  BeginUpdate(first);
  ASSERT_EQ(fill_other(side_, 6), 0);
  const std::byte* const second = static_cast<std::byte*>(device_) + 1;
  ASSERT_EQ(aclrtMemcpyAsync(device_, 1, second, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, side_), 0);
  EndUpdate();
  BeginUpdate(empty);
  EndUpdate();
  Finish(side_);
  EXPECT_EQ(Run(model), 4) << "of another source now";
  EXPECT_EQ(other.Read(), std::vector<uint8_t>(kBytes, 6));
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

// Operators keep their memory as long as they may run, and no longer.
TEST_F(TaskGroupTest, WhatIsReplacedIsReleased) {
  int runs = 0;
  OwnOperator own([&](void* const* data, void*) {
    ++runs;
    *static_cast<float*>(data[0]) = 1;
    return 0;
  });
  DeviceArray<float> x(16, 1.0F);
  own.Add("self", OPENACLNN_OUTPUT, {ACL_FLOAT, {1}, {1}}, x.data());
  Begin();
  BeginGroup();
  ASSERT_EQ(own.Launch(stream_), 0) << TakeMessage();
  const aclrtTaskGrp group = EndGroup();
  const aclmdlRI model = EndCapture();
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), 0) << TakeMessage();
  Finish(stream_);
  DeviceArray<float> y(16, 10.0F);
  OwnOperator next([&](void* const* data, void*) {
    runs += 100;
    *static_cast<float*>(data[0]) = 11;
    return 0;
  });
  next.Add("self", OPENACLNN_OUTPUT, {ACL_FLOAT, {1}, {1}}, y.data());
  BeginUpdate(group);
  ASSERT_EQ(next.Launch(side_), 0) << TakeMessage();
  EndUpdate();
  Finish(side_);
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), 0);
  x.Free();
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), 0);
  EXPECT_GT(after, before) << "nothing keeps it any more";
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), 0) << TakeMessage();
  Finish(stream_);
  EXPECT_EQ(runs, 101);
  EXPECT_EQ(y.Read()[0], 11.0F);
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

TEST_F(TaskGroupTest, AnUpdateMatchesItsGroup) {
  aclrtTaskGrp group = nullptr;
  const aclmdlRI model = CaptureFill(&group);
  BeginUpdate(group);
  ExpectUpdateFails("stream update has 0 tasks, expected 1 as the group has");
  BeginUpdate(group);
  ASSERT_EQ(Fill(side_, 2), 0);
  ASSERT_EQ(Fill(side_, 3), 0);
  ExpectUpdateFails("stream update has 2 tasks, expected 1");
  BeginUpdate(group);
  ASSERT_EQ(aclrtMemcpyAsync(device_, 1, device_, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, side_), 0);
  ExpectUpdateFails("a task of aclrtMemcpyAsync in place 0, expected one of aclrtMemsetAsync");
  EXPECT_EQ(Run(model), 1) << "nothing was replaced";
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

TEST_F(TaskGroupTest, AnUpdateTakesLaunchesAlone) {
  aclrtTaskGrp group = nullptr;
  const aclmdlRI model = CaptureFill(&group);
  DeviceArray<uint64_t> flag(1, 0);
  const auto wait = [&] { return aclrtValueWait(flag.data(), 1, ACL_STREAM_WAIT_VALUE_EQ, side_); };
  const int captured = ACL_ERROR_RT_STREAM_CAPTURED;
  const Refusal refusals[] = {
      {"aclrtValueWait", wait, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
       "task of aclrtValueWait cannot be updated"},
      {"aclrtSynchronizeStream", [&] { return aclrtSynchronizeStream(side_); }, captured,
       "stream use is another than to launch tasks"},
      {"aclrtRecordEvent", [&] { return aclrtRecordEvent(event_, side_); }, captured,
       "stream use is another than to launch tasks"},
      {"aclmdlRIExecuteAsync", [&] { return aclmdlRIExecuteAsync(model, side_); }, captured,
       "stream use is another than to launch tasks"},
      {"aclmdlRICaptureTaskUpdateBegin",
       [&] { return aclmdlRICaptureTaskUpdateBegin(side_, group); }, captured,
       "stream use is another than to launch tasks"},
      {"aclmdlRICaptureTaskGrpBegin", [&] { return aclmdlRICaptureTaskGrpBegin(side_); }, captured,
       "stream use is another than to launch tasks"},
  };
  for (const Refusal& refusal : refusals) {
    BeginUpdate(group);
    ASSERT_EQ(Fill(side_, 2), 0);
    ExpectRefused(refusal);
    EXPECT_EQ(StatusOf(side_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    ExpectUpdateFails("stream update is invalid since a call before was refused (");
  }
  EXPECT_EQ(Run(model), 1);
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

TEST_F(TaskGroupTest, GroupsBeginAndEndInACapture) {
  aclrtTaskGrp group = nullptr;
  const auto begin = [&] { return aclmdlRICaptureTaskGrpBegin(stream_); };
  const auto end = [&] { return aclmdlRICaptureTaskGrpEnd(stream_, &group); };
  const int outside = ACL_ERROR_RT_STREAM_NOT_CAPTURED;
  ExpectRefused({"aclmdlRICaptureTaskGrpBegin", begin, outside, "stream capture is none"});
  ExpectRefused({"aclmdlRICaptureTaskGrpEnd", end, outside, "stream capture is none"});
  ExpectFree();
  Begin();
  ExpectRefused({"aclmdlRICaptureTaskGrpEnd", end, kState, "stream task group is none"});
  ExpectInvalid("stream task group is none");
  Begin();
  BeginGroup();
  ExpectRefused({"aclmdlRICaptureTaskGrpBegin", begin, kState, "stream task group has begun"});
  ExpectInvalid("stream task group has begun");
  Begin();
  BeginGroup();
  ASSERT_EQ(Fill(stream_), 0);
  ExpectEnd(kState, "stream task group has not ended");
  ExpectFree();
  EXPECT_EQ(group, nullptr);
}

TEST_F(TaskGroupTest, GroupsHaveNoFunctionsOfTheHost) {
  Begin();
  BeginGroup();
  ExpectRefused({"aclrtLaunchHostFunc",
                 [&] {
                   return aclrtLaunchHostFunc(
                       stream_, [](void*) {}, nullptr);
                 },
                 ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                 "task of aclrtLaunchHostFunc cannot be updated"});
  ExpectInvalid("task of aclrtLaunchHostFunc cannot be updated");
}

TEST_F(TaskGroupTest, GroupsOfOthersAreRefused) {
  aclrtTaskGrp group = nullptr;
  const auto update = [&](aclrtStream stream) {
    return [&group, stream] { return aclmdlRICaptureTaskUpdateBegin(stream, group); };
  };
  const char* const api = "aclmdlRICaptureTaskUpdateBegin";
  const int handle = ACL_ERROR_RT_INVALID_HANDLE;
  ExpectRefused({api, update(side_), handle, "handle value is 0x0, expected a task group"});
  group = stream_;
  ExpectRefused({api, update(side_), handle, "expected a task group of a live model"});
  Begin();
  BeginGroup();
  group = EndGroup();
  ExpectRefused({api, update(side_), ACL_ERROR_RT_MODEL_CAPTURED, "model is being captured"});
  const aclmdlRI model = EndCapture();
  ExpectRefused({api, update(nullptr), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "the default stream"});
  Begin();
  ExpectRefused({api, update(stream_), ACL_ERROR_RT_STREAM_CAPTURED, "stream use is to update"});
  ExpectInvalid("stream use is to update tasks");
  aclrtContext own = nullptr, other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&own), 0);
  ASSERT_EQ(aclrtCreateContext(&other, 0), 0);
  const aclrtStream foreign = NewStream();
  ExpectRefused({api, update(foreign), ACL_ERROR_RT_STREAM_CONTEXT, "stream context is not"});
  EXPECT_EQ(aclrtDestroyStream(foreign), 0);
  EXPECT_EQ(aclrtDestroyContext(other), 0);
  ASSERT_EQ(aclrtSetCurrentContext(own), 0);
  ExpectRefused({"aclmdlRICaptureTaskUpdateEnd",
                 [&] { return aclmdlRICaptureTaskUpdateEnd(side_); }, kState,
                 "stream update is none"});
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  ExpectRefused({api, update(side_), handle, "expected a task group of a live model"});
}

TEST_F(TaskGroupTest, AnUpdateEndsWithItsStream) {
  aclrtTaskGrp group = nullptr;
  const aclmdlRI model = CaptureFill(&group);
  const aclrtStream stream = NewStream();
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(stream, group), 0) << TakeMessage();
  ASSERT_EQ(Fill(stream, 2), 0) << TakeMessage();
  EXPECT_EQ(aclrtDestroyStream(stream), 0) << TakeMessage();
  EXPECT_EQ(Run(model), 1);
  Update(group, 3);
  EXPECT_EQ(aclmdlRIDestroy(model), 0) << "the update keeps it";
  Finish(side_);
}

}  // namespace
}  // namespace openaclnn
