// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK=full: races between streams are reported, and programs in order are left alone.
#include <gmock/gmock.h>

#include <chrono>
#include <deque>
#include <thread>

#include "aclnnop/aclnn_add.h"
#include "common/text.h"
#include "tests/ascendcl/gradient.h"
#include "tests/ascendcl/own_operator.h"

#if defined(__SANITIZE_THREAD__)
// The tasks of these tests race on purpose; ThreadSanitizer is to look at who watches them.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_suppressions() {
  return "race:openaclnn::Stream::RunFirst\n";
}
#endif

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class RaceWatchTest : public RuntimeTest {
 protected:
  static constexpr size_t kCount = 8;  // elements of an array
  using Floats = DeviceArray<float>;

  void SetUp() override {
    testing::internal::CaptureStderr();
    RuntimeTest::SetUp();
    first = NewStream();
    second = NewStream();
    event = NewEvent();
    for (auto* array : {&a, &b, &out}) *array = std::make_unique<Floats>(kCount);
  }
  void TearDown() override { Reported(); }

  /// Ends the runtime, and returns what was said of races meanwhile.
  std::string Reported() {
    if (event == nullptr) return text_;
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
    for (auto* array : {&a, &b, &out}) array->reset();
    EXPECT_EQ(aclrtDestroyEvent(std::exchange(event, nullptr)), 0);
    for (aclrtStream stream : {first, second}) EXPECT_EQ(aclrtDestroyStream(stream), 0);
    RuntimeTest::TearDown();
    return text_ = testing::internal::GetCapturedStderr();
  }

  /// out = self + other, of `count` elements `stride` apart.
  static void Add(aclrtStream stream, const void* self, const void* other, void* sum,
                  int64_t count = kCount, int64_t stride = 1) {
    const int64_t storage = (count - 1) * stride + 1;
    std::vector<aclTensor*> tensors;
    for (const void* data : {self, other, static_cast<const void*>(sum)}) {
      tensors.push_back(aclCreateTensor(&count, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &storage,
                                        1, const_cast<void*>(data)));
    }
    float one = 1;
    aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(
        aclnnAddGetWorkspaceSize(tensors[0], tensors[1], alpha, tensors[2], &bytes, &executor), 0)
        << TakeMessage();
    ASSERT_EQ(bytes, 0U);
    ASSERT_EQ(aclnnAdd(nullptr, 0, executor, stream), 0) << TakeMessage();
    for (const aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
    EXPECT_EQ(aclDestroyScalar(alpha), 0);
  }
  void WriteOut(aclrtStream stream) { Add(stream, a->data(), b->data(), out->data()); }
  void CopyOut(aclrtStream stream) {
    ASSERT_EQ(aclrtMemcpyAsync(out->data(), out->bytes(), a->data(), a->bytes(),
                               ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
              0)
        << TakeMessage();
  }
  void Order() {
    ASSERT_EQ(aclrtRecordEvent(event, first), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
  }

  aclrtStream first = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
  std::unique_ptr<Floats> a, b, out;

 private:
  std::string text_;
  Variable check_{"OPENACLNN_CHECK", "full"};
};

TEST_F(RaceWatchTest, TwoOperatorsThatWriteOneBuffer) {
  WriteOut(first);
  Add(second, a->data(), b->data(), out->data() + 2, 4);
  const std::string where =
      Concat("where: bytes 8 to 23 of the 32 that were allocated at ",
             static_cast<const void*>(out->data()), " on device 0 by aclrtMalloc\n");
  const std::string title = Concat("openaclnn: racecheck: nothing orders aclnnAdd on stream ",
                                   second, "\n         after aclnnAdd on stream ", first, "\n");
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr(title));
  EXPECT_THAT(text, HasSubstr("what:  aclnnAdd writes out; aclnnAdd, called before, writes out\n"));
  EXPECT_THAT(text, HasSubstr(where));
  EXPECT_THAT(text, HasSubstr("fix:   record an event on stream "));
  EXPECT_THAT(text, HasSubstr("openaclnn: 1 error found (racecheck 1), 1 reported (each once, at "
                              "most 100 of a check)\n"));
}

TEST_F(RaceWatchTest, AnEventOrdersThem) {
  WriteOut(first);
  Order();
  WriteOut(second);
  EXPECT_EQ(Reported(), "");
}

TEST_F(RaceWatchTest, AnEventOfBeforeDoesNot) {
  Order();
  WriteOut(first);
  WriteOut(second);
  EXPECT_EQ(Count(Reported(), "racecheck: "), 1U);
}

/// An operator on each stream that uses one buffer so, both as an output.
class UsesTest : public RaceWatchTest {
 protected:
  std::string Report(OpenaclnnUse one, OpenaclnnUse other) {
    std::deque<OwnOperator> operators;
    for (const auto& [stream, use] : {std::pair(first, one), std::pair(second, other)}) {
      OwnOperator& own = operators.emplace_back([](void* const*, void*) { return 0; });
      own.Add("state", OPENACLNN_OUTPUT, {ACL_FLOAT, {8}, {1}}, out->data(), use);
      EXPECT_EQ(own.Launch(stream), 0) << TakeMessage();
    }
    EXPECT_EQ(aclrtSynchronizeDevice(), 0) << TakeMessage();
    return Reported();
  }
};

TEST_F(UsesTest, ReadByBoth) { EXPECT_EQ(Report(OPENACLNN_READ, OPENACLNN_READ), ""); }
TEST_F(UsesTest, ReadByOne) {
  EXPECT_EQ(Count(Report(OPENACLNN_READ, OPENACLNN_UPDATED), "racecheck: "), 1U);
}
TEST_F(UsesTest, LeftAlone) { EXPECT_EQ(Report(OPENACLNN_UNUSED, OPENACLNN_UPDATED), ""); }

TEST_F(RaceWatchTest, CopiesFillsAndOperators) {
  CopyOut(first);
  CopyOut(second);
  ASSERT_EQ(aclrtMemsetAsync(out->data(), 4, 1, 4, nullptr), 0);
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr("what:  aclrtMemcpyAsync writes dst; aclrtMemcpyAsync"));
  EXPECT_THAT(text, HasSubstr("aclrtMemsetAsync on the default stream\n"));
  EXPECT_THAT(text, HasSubstr("what:  aclrtMemsetAsync writes devPtr; aclrtMemcpyAsync, called "
                              "before, writes dst\n  where: bytes 0 to 3 of the 32"));
}

TEST_F(RaceWatchTest, ReadersAreFree) {
  WriteOut(first);
  Order();
  Add(first, out->data(), out->data(), a->data());
  Add(second, out->data(), out->data(), b->data());
  EXPECT_EQ(Reported(), "");
}

TEST_F(RaceWatchTest, TheHostWaits) {
  const std::vector<std::function<void()>> waits = {
      [&] { ASSERT_EQ(aclrtSynchronizeStream(first), 0); },
      [&] { ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(first, 10'000), 0); },
      [&] { ASSERT_EQ(aclrtSynchronizeDevice(), 0); },
      [&] { ASSERT_EQ(aclrtSynchronizeEvent(event), 0); },
      [&] {
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        while (status != ACL_STREAM_STATUS_COMPLETE) {
          ASSERT_EQ(aclrtStreamQuery(first, &status), 0);
        }
      },
      [&] {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
          ASSERT_EQ(aclrtQueryEventStatus(event, &status), 0);
        }
      },
      [&] {  // on another thread: what the two tell each other is not seen
        std::thread([&] {
          ASSERT_EQ(aclrtSetDevice(0), 0);
          ASSERT_EQ(aclrtSynchronizeStream(first), 0);
          ASSERT_EQ(aclrtResetDevice(0), 0);
        }).join();
      },
  };
  for (const auto& wait : waits) {
    WriteOut(first);
    ASSERT_EQ(aclrtRecordEvent(event, first), 0);
    wait();
    WriteOut(second);
    ASSERT_EQ(aclrtSynchronizeStream(second), 0);
  }
  EXPECT_EQ(Reported(), "");
}

TEST_F(RaceWatchTest, AnEventIsNoWaitForWhatFollowsIt) {
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  WriteOut(first);
  ASSERT_EQ(aclrtSynchronizeEvent(event), 0);
  WriteOut(second);
  EXPECT_EQ(Count(Reported(), "racecheck: "), 1U);
}

TEST_F(RaceWatchTest, ABlockingCopyWaitsForNobody) {
  WriteOut(first);
  (void)out->Read();
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr("nothing orders aclrtMemcpy on the host\n"));
  EXPECT_THAT(text, HasSubstr("(aclrtSynchronizeStream)\n"));
}

TEST_F(RaceWatchTest, ASharedWorkspace) {
  Gradient one(1), two(1);
  uint64_t bytes = 0, more = 0;
  aclOpExecutor *executor = nullptr, *other = nullptr;
  ASSERT_EQ(one.Plan(&bytes, &executor), 0);
  ASSERT_EQ(two.Plan(&more, &other), 0);
  ASSERT_GT(bytes, 0U);
  const DeviceArray<uint8_t> workspace(bytes);
  ASSERT_EQ(aclnnEmbeddingDenseBackward(workspace.data(), bytes, executor, first), 0);
  ASSERT_EQ(aclnnEmbeddingDenseBackward(workspace.data(), bytes, other, second), 0);
  ASSERT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("writes workspace;"));
  testing::internal::CaptureStderr();
}

TEST_F(RaceWatchTest, InterleavedColumns) {
  auto matrix = std::make_unique<Floats>(40);
  float* data = matrix->data();
  Add(first, data, data + 1, data + 2, 10, 4);
  Add(second, data, data + 1, data + 3, 10, 4);
  ASSERT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  Add(first, data, data + 1, data + 2, 10, 4);
  Add(second, data, data + 2, data + 3, 10, 4);
  ASSERT_EQ(aclrtSynchronizeDevice(), 0);
  matrix.reset();
  EXPECT_EQ(Count(Reported(), "racecheck: "), 1U);
}

TEST_F(RaceWatchTest, FreedMemoryIsForgotten) {
  WriteOut(first);
  float* before = out->data();
  out->Free();
  // The address comes back once the task is done, which nobody here waits for.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  do {
    out = std::make_unique<Floats>(kCount);
  } while (out->data() != before && std::chrono::steady_clock::now() < deadline);
  ASSERT_EQ(out->data(), before);
  WriteOut(second);
  const std::string text = Reported();  // of aclrtFree, which was too early, alone
  EXPECT_EQ(Count(text, "racecheck: "), 1U);
  EXPECT_THAT(text, HasSubstr("racecheck: nothing orders aclrtFree on the host\n"));
}

// The address comes back with other memory once the task is done, which nobody here waits for.
TEST_F(RaceWatchTest, UnregisteredMemoryIsForgotten) {
  constexpr size_t kPage = 4096;
  alignas(kPage) static std::byte host[2][kPage];
  const auto fill = [](std::byte* memory, aclrtStream stream) {
    void* device = nullptr;
    EXPECT_EQ(aclrtHostRegister(memory, kPage, ACL_HOST_REGISTER_MAPPED, &device), 0)
        << TakeMessage();
    EXPECT_EQ(aclrtMemsetAsync(device, kPage, 1, kPage, stream), 0) << TakeMessage();
    EXPECT_EQ(aclrtHostUnregister(memory), 0) << TakeMessage();
    return device;
  };
  // Unless what else maps memory has taken it meanwhile: then another one's.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool again = false;
  while (!again) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    const void* const before = fill(host[0], first);
    for (int i = 0; i < 1000 && !again; ++i) again = fill(host[1], second) == before;
  }
  EXPECT_EQ(Reported(), "");
}

// Two streams wait for an event of a third, which then writes what both have written.
TEST_F(RaceWatchTest, WaitsThatTheHostHasSeenReached) {
  const aclrtStream third = NewStream();
  const auto fill = [](const Floats& array, aclrtStream stream) {
    ASSERT_EQ(aclrtMemsetAsync(array.data(), array.bytes(), 0, array.bytes(), stream), 0);
  };
  ASSERT_EQ(aclrtRecordEvent(event, third), 0);
  for (const auto& [array, stream] : {std::pair(a.get(), first), std::pair(b.get(), second)}) {
    fill(*array, stream);
    ASSERT_EQ(aclrtStreamWaitEvent(stream, event), 0);
  }
  aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_NOT_READY;
  while (status != ACL_EVENT_WAIT_STATUS_COMPLETE) {
    ASSERT_EQ(aclrtQueryEventWaitStatus(event, &status), 0);
  }
  fill(*a, third);
  fill(*b, third);
  ASSERT_EQ(aclrtSynchronizeStream(third), 0);
  ASSERT_EQ(aclrtDestroyStream(third), 0);
  EXPECT_EQ(Reported(), "");
}

// Before any other function of the host: the first is counted apart.
TEST_F(RaceWatchTest, FunctionsThatHaveReturnedHideNothing) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclrtLaunchHostFunc(
                  first, [](void*) {}, nullptr),
              0);
    ASSERT_EQ(aclrtSynchronizeStream(first), 0);
    WriteOut(first);
    i == 0 ? WriteOut(second) : CopyOut(second);
    ASSERT_EQ(aclrtSynchronizeStream(second), 0);
  }
  EXPECT_EQ(Count(Reported(), "racecheck: "), 2U);
}

TEST_F(RaceWatchTest, CallbacksThatNobodyWaitsForHideNothing) {
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), first), 0);
  ASSERT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_NO_BLOCK, first), 0);
  WriteOut(first);
  WriteOut(second);
  ASSERT_EQ(aclrtProcessReport(10'000), 0);
  ASSERT_EQ(aclrtUnSubscribeReport(pthread_self(), first), 0);
  EXPECT_EQ(Count(Reported(), "racecheck: "), 1U);
}

TEST_F(RaceWatchTest, HostFunctionsAreInOrder) {
  WriteOut(first);
  std::function<void()> deed = [this] {
    EXPECT_EQ(aclrtSetDevice(0), 0);
    WriteOut(second);
    EXPECT_EQ(aclrtSynchronizeStream(second), 0);
    EXPECT_EQ(aclrtResetDevice(0), 0);
  };
  const auto run = [](void* deed) { (*static_cast<std::function<void()>*>(deed))(); };
  ASSERT_EQ(aclrtLaunchHostFunc(first, run, &deed), 0);
  WriteOut(first);
  ASSERT_EQ(aclrtSynchronizeStream(first), 0);
  EXPECT_EQ(Reported(), "");
}

TEST_F(RaceWatchTest, CallbacksAreInOrder) {
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), first), 0);
  WriteOut(first);
  const auto nothing = [](void*) {};
  ASSERT_EQ(aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_NO_BLOCK, first), 0);
  ASSERT_EQ(aclrtProcessReport(10'000), 0);
  WriteOut(second);
  ASSERT_EQ(aclrtUnSubscribeReport(pthread_self(), first), 0);
  EXPECT_EQ(Reported(), "");
}

TEST_F(RaceWatchTest, EachPairOfCallsIsReportedOnce) {
  for (int i = 0; i < 5; ++i) {
    WriteOut(first);
    WriteOut(second);
  }
  const std::string text = Reported();
  EXPECT_EQ(Count(text, "racecheck: "), 2U) << text;
  EXPECT_THAT(text, HasSubstr("openaclnn: 9 errors found (racecheck 9), 2 reported "));
}

TEST(RaceWatchOffTest, NothingIsSaidWithoutFull) {
  for (const char* level : {"off", "fast"}) {
    const Variable check("OPENACLNN_CHECK", level);
    testing::internal::CaptureStderr();
    ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
    ASSERT_EQ(aclrtSetDevice(0), 0);
    aclrtStream streams[2] = {};
    {
      const DeviceArray<float> memory(8);
      for (aclrtStream& stream : streams) {
        ASSERT_EQ(aclrtCreateStream(&stream), 0);
        ASSERT_EQ(aclrtMemsetAsync(memory.data(), 32, 0, 32, stream), 0);
      }
    }
    ASSERT_EQ(aclrtResetDevice(0), 0);
    ASSERT_EQ(aclFinalize(), 0);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << level;
  }
}

}  // namespace
}  // namespace openaclnn
