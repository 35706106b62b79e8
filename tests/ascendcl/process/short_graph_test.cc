// SPDX-License-Identifier: Apache-2.0
// Graphs that run out of memory half-way, as they are captured and as they run.
#include <cstring>
#include <optional>
#include <string>

#include "aclnnop/aclnn_abs.h"
#include "ascendcl/interface.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/process/short_calls.h"

namespace openaclnn {
namespace {

using test::Shortage;
using test::ShortMemory;

// An execution is all of its tasks or none.
TEST_F(ShortMemoryTest, Graphs) {
  constexpr int kTasks = 40, kExecutions = 20;
  const OpenaclnnRuntime* runtime = openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE);
  aclrtStream stream = NewStream();
  int runs = 0, released = 0;
  int* counts[] = {&runs, &released};
  const OpenaclnnTask task = {
      .name = "task",
      .run = [](void* state, OpenaclnnMessage*) { return ++**static_cast<int**>(state), 0; },
      .release = [](void* state) { ++*static_cast<int**>(state)[1]; },
      .state = counts,
      .arguments = nullptr,
      .each_pin = [](const void*, void (*)(void*, const OpenaclnnPin*), void*) {}};
  OpenaclnnMessage message = {};
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  for (int i = 0; i < kTasks; ++i) {
    EachFailure([&] { return runtime->submit(stream, &task, &message); },
                [&] { ASSERT_EQ(released, 0) << "still the caller's"; });
  }
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0) << TakeMessage();
  for (int i = 1; i <= kExecutions; ++i) {
    EachFailure([&] { return aclmdlRIExecuteAsync(model, stream); }, [] {});
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    ASSERT_EQ(runs, i * kTasks);
  }
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(released, kTasks);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

/// A capture of three streams, each of which launches behind the one before.
class ShortCaptureTest : public ShortMemoryTest {
 protected:
  void SetUp() override {
    ShortMemoryTest::SetUp();
    for (aclrtStream& stream : streams_) stream = NewStream();
    for (aclrtEvent& event : events_) event = NewEvent(ACL_EVENT_SYNC);
    Begin();
  }
  void TearDown() override {
    for (const aclrtEvent event : events_) EXPECT_EQ(aclrtDestroyEvent(event), 0);
    for (const aclrtStream stream : streams_) EXPECT_EQ(aclrtDestroyStream(stream), 0);
    ShortMemoryTest::TearDown();
  }

  void Begin() const {
    ASSERT_EQ(aclmdlRICaptureBegin(streams_[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
  }
  void ExpectValid() const {
    aclmdlRICaptureStatus status{};
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureGetInfo(streams_[0], &status, &model), 0);
    EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  }
  /// Makes the call again until there is memory for it.
  template <class Call>
  void Insist(const Call& call) const {
    EachFailure(call, [this] { ExpectValid(); });
  }

  aclrtStream streams_[3] = {};
  aclrtEvent events_[3] = {};
};

// What fails has captured nothing and is made again: nothing of the graph is lost.
TEST_F(ShortCaptureTest, CallsThatFailAreMadeAgain) {
  const int64_t dims[] = {4};
  const DeviceArray<float> from({-1, 2, -3, 4}), to(4, 0.0f), copy(4, 0.0f);
  const auto tensor = [&](void* data) {
    return aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, data);
  };
  aclTensor *self = tensor(from.data()), *out = tensor(to.data());
  for (size_t i = 0; i < 3; ++i) {
    const aclrtStream stream = streams_[i];
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    if (i > 0) Insist([&] { return aclrtStreamWaitEvent(stream, events_[i - 1]); });
    ASSERT_EQ(aclnnAbsGetWorkspaceSize(self, out, &size, &executor), 0);
    Insist([&] { return aclnnAbs(nullptr, size, executor, stream); });
    Insist([&] {
      return aclrtMemcpyAsync(copy.data(), copy.bytes(), to.data(), to.bytes(),
                              ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
    });
    Insist([&] { return aclrtMemsetAsync(to.data(), to.bytes(), 0, 4, stream); });
    Insist([&] { return aclrtRecordEvent(events_[i], stream); });
  }
  Insist([&] { return aclrtStreamWaitEvent(streams_[0], events_[2]); });
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(streams_[0], &model), 0) << TakeMessage();
  EXPECT_EQ(aclmdlRIExecute(model, -1), 0) << TakeMessage();
  EXPECT_EQ(copy.Read(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(to.Read(), (std::vector<float>{0, 2, 3, 4}));
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclDestroyTensor(self), 0);
  EXPECT_EQ(aclDestroyTensor(out), 0);
}

// The same in a group, whose tasks can be replaced then.
TEST_F(ShortCaptureTest, CallsOfAGroupAreMadeAgain) {
  const DeviceArray<float> from(4, 1.0f), other(4, 2.0f), to(4, 0.0f);
  const auto copy = [&](const DeviceArray<float>& source, aclrtStream stream) {
    return aclrtMemcpyAsync(to.data(), to.bytes(), source.data(), source.bytes(),
                            ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
  };
  aclrtTaskGrp group = nullptr;
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(streams_[0]), 0) << TakeMessage();
  Insist([&] { return copy(from, streams_[0]); });
  Insist([&] { return copy(from, streams_[0]); });
  Insist([&] { return aclmdlRICaptureTaskGrpEnd(streams_[0], &group); });
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(streams_[0], &model), 0) << TakeMessage();
  EXPECT_EQ(aclmdlRIExecute(model, -1), 0) << TakeMessage();
  EXPECT_EQ(to.Read(), from.Read());
  EachFailure([&] { return aclmdlRICaptureTaskUpdateBegin(streams_[1], group); }, [] {});
  for (int i = 0; i < 2; ++i) {
    EachFailure([&] { return copy(other, streams_[1]); }, [] {});
  }
  ASSERT_EQ(aclmdlRICaptureTaskUpdateEnd(streams_[1]), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(streams_[1]), 0) << TakeMessage();
  EXPECT_EQ(aclmdlRIExecute(model, -1), 0) << TakeMessage();
  EXPECT_EQ(to.Read(), other.Read());
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

// A wait that fails waits for nothing, not for a part of what comes before its event.
TEST_F(ShortCaptureTest, AWaitThatFailsJoinsNothing) {
  const DeviceArray<float> data(4, 1.0f);
  int failures = 0;
  for (int code = ACL_ERROR_BAD_ALLOC; code != 0;) {
    ASSERT_EQ(aclrtRecordEvent(events_[0], streams_[0]), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(streams_[1], events_[0]), 0);
    ASSERT_EQ(aclrtMemsetAsync(data.data(), 4, 0, 4, streams_[1]), 0);
    ASSERT_EQ(aclrtRecordEvent(events_[1], streams_[1]), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(streams_[2], events_[1]), 0);
    ASSERT_EQ(aclrtRecordEvent(events_[2], streams_[2]), 0);
    {
      const ShortMemory shortage({.first = failures});
      code = aclrtStreamWaitEvent(streams_[0], events_[2]);
    }
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(streams_[0], &model), code == 0 ? 0 : ACL_ERROR_RT_STREAM_UNJOINED)
        << "after " << failures << " allocations";
    EXPECT_EQ(aclmdlRIDestroy(model), code == 0 ? 0 : ACL_ERROR_RT_INVALID_HANDLE);
    if (code == 0) break;
    ++failures;
    Begin();
  }
  EXPECT_GT(failures, 0);
}

/// What outputs held is kept while their task runs.
class WatchedGraphTest : public ShortMemoryTest {
 protected:
  /// Runs the model once, with memory for a copy of kBytes or without; what was reported.
  static std::string Run(aclmdlRI model, bool has_memory) {
    constexpr Shortage kNoCopies = {.fails = Shortage::Fails::kFromThenOn,
                                    .threads = Shortage::Threads::kAll,
                                    .least_bytes = kBytes};
    testing::internal::CaptureStderr();
    {
      std::optional<ShortMemory> shortage;
      if (!has_memory) shortage.emplace(kNoCopies);
      EXPECT_EQ(aclmdlRIExecute(model, -1), 0) << TakeMessage();
    }
    return testing::internal::GetCapturedStderr();
  }

  static constexpr size_t kBytes = size_t{1} << 20;

 private:
  const Variable check_{"OPENACLNN_CHECK", "full"};
};

TEST_F(WatchedGraphTest, KeepsNothingOfOutputsFromRunToRun) {
  const DeviceArray<float> out(kBytes / sizeof(float));
  aclrtStream stream = NewStream();
  int runs = 0;
  OwnOperator own([&runs](void* const* data, void*) {
    std::memset(data[0], 1, ++runs == 3 ? kBytes / 2 : kBytes);
    return 0;
  });
  own.Add("out", OPENACLNN_OUTPUT, {ACL_FLOAT, {kBytes / sizeof(float)}, {1}}, out.data());
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  ASSERT_EQ(own.Launch(stream), 0);
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0) << TakeMessage();
  EXPECT_EQ(Run(model, true), "");
  EXPECT_EQ(Run(model, false), "");
  EXPECT_GT(ShortMemory::failures(), 0) << "what the first run had for it was given back";
  EXPECT_NE(Run(model, true).find("aclnnOwn has not written all of out\n"), std::string::npos)
      << "a run without memory is not watched, the one after it is";
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// Zeros are what the pattern is before the first run.
TEST_F(WatchedGraphTest, AFirstRunWithoutMemoryIsNotWatched) {
  const DeviceArray<int32_t> out(kBytes / sizeof(int32_t), 7);
  aclrtStream stream = NewStream();
  OwnOperator own([](void* const* data, void*) {
    std::memset(data[0], 0, kBytes);
    return 0;
  });
  own.Add("out", OPENACLNN_OUTPUT, {ACL_INT32, {kBytes / sizeof(int32_t)}, {1}}, out.data());
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  ASSERT_EQ(own.Launch(stream), 0);
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0) << TakeMessage();
  EXPECT_EQ(Run(model, false), "");
  EXPECT_EQ(out.Read(), std::vector<int32_t>(kBytes / sizeof(int32_t), 0));
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace openaclnn
