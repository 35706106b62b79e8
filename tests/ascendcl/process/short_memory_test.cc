// SPDX-License-Identifier: Apache-2.0
// Calls that run out of memory half-way: an error code, and everything as it was before.
#include "tests/support/short_memory.h"

#include <unistd.h>

#include <filesystem>
#include <thread>

#include "aclnnop/aclnn_abs.h"
#include "ascendcl/interface.h"
#include "nnopbase/interface.h"
#include "tests/ascendcl/process/short_calls.h"

namespace openaclnn {
namespace {

using test::Shortage;
using test::ShortMemory;

constexpr Shortage kNone = {.fails = Shortage::Fails::kFromThenOn,
                            .threads = Shortage::Threads::kAll};

// Many times: a queue needs memory only now and then.
constexpr int kTimes = 200;

TEST_F(ShortMemoryTest, Events) {
  aclrtStream first = NewStream(), second = NewStream();
  aclrtEvent event = NewEvent();
  for (int i = 0; i < kTimes; ++i) {
    SCOPED_TRACE(i);
    EachFailure([&] { return aclrtRecordEvent(event, first); },
                [&] { EXPECT_TRUE(Reached(event)) << "as before the record"; });
    EachFailure([&] { return aclrtStreamWaitEvent(second, event); },
                [&] { EXPECT_TRUE(Waited(event)) << "nothing waits"; });
    EachFailure([&] { return aclrtResetEvent(event, first); }, [] {});
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(second, 10'000), 0);
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(first, 10'000), 0);
  }
  EXPECT_TRUE(Reached(event));
  EXPECT_TRUE(Waited(event));
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtDestroyStream(first), 0);
  EXPECT_EQ(aclrtDestroyStream(second), 0);
}

// A task that does not reach its stream stays its executor's.
TEST_F(ShortMemoryTest, Operators) {
  aclrtStream stream = NewStream();
  const int64_t dims[] = {4};
  const DeviceArray<float> from({-1, 2, -3, 4}), to(4, 0.0f);
  const auto tensor = [&](void* data) {
    return aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, data);
  };
  aclTensor *self = tensor(from.data()), *out = tensor(to.data());
  for (int i = 0; i < kTimes; ++i) {
    SCOPED_TRACE(i);
    const auto call = [&] {
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      int status = aclnnAbsGetWorkspaceSize(self, out, &size, &executor);
      if (status != 0) return status;
      status = aclnnAbs(nullptr, size, executor, stream);
      if (status != 0) {
        EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
      }
      return status;
    };
    EachFailure(call, [] {});
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 10'000), 0);
  }
  EXPECT_EQ(to.Read(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(aclDestroyTensor(self), 0);
  EXPECT_EQ(aclDestroyTensor(out), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(ShortMemoryTest, Subscriptions) {
  aclrtStream stream = NewStream();
  const auto nothing = [](void*) {};
  EachFailure([&] { return aclrtSubscribeReport(pthread_self(), stream); },
              [&] {
                EXPECT_EQ(aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_BLOCK, stream),
                          ACL_ERROR_RT_STREAM_NO_CB_REG);
                EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_THREAD_SUBSCRIBE);
              });
  EachFailure([&] { return aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_BLOCK, stream); },
              [] { EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_REPORT_TIMEOUT); });
  EXPECT_EQ(aclrtProcessReport(10'000), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// What a task still used is given back by the thread that ends the task, whatever that thread has.
TEST_F(ShortMemoryTest, MemoryThatWasFreedWhileATaskUsesIt) {
  for (const size_t bytes : {size_t{4096}, size_t{100} << 20}) {
    const size_t before = FreeMemory();
    aclrtStream stream = NewStream();
    void *block = nullptr, *neighbour = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    ASSERT_EQ(aclrtMalloc(&neighbour, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    Gate gate(stream);
    ASSERT_EQ(aclrtMemsetAsync(block, bytes, 1, 64, stream), 0);
    gate.AwaitReached();
    int freed = 0, done = 0, freed_at_once = 0;
    {
      const ShortMemory shortage(kNone);
      freed = aclrtFree(block);
      gate.Open();
      done = aclrtSynchronizeStream(stream);
      freed_at_once = aclrtFree(neighbour);
    }
    EXPECT_EQ(freed, 0);
    EXPECT_EQ(done, 0);
    EXPECT_EQ(freed_at_once, 0);
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
    EXPECT_EQ(FreeMemory(), before);
  }
}

// A context, a device and the library end with what they have, callbacks that nobody took among it;
// what fails is as it was and can be tried again.
TEST_F(ShortMemoryTest, Ends) {
  const auto nothing = [](void*) {};
  int64_t failures = 1;
  for (Shortage shortage = kNone; failures > 0; ++shortage.first) {
    SCOPED_TRACE(shortage.first);
    ASSERT_LT(shortage.first, 100);
    failures = 0;
    void *block = nullptr, *home = nullptr, *context = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&home), 0);
    ASSERT_EQ(aclrtSetDevice(1), 0);
    ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
    for (void* current : {context, home}) {
      ASSERT_EQ(aclrtSetCurrentContext(current), 0);
      aclrtStream stream = NewStream();
      ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0);
      ASSERT_EQ(aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_BLOCK, stream), 0);
      ASSERT_EQ(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    }
    const std::function<int()> ends[] = {[&] { return aclrtDestroyContext(context); },
                                         [] { return aclrtResetDevice(1); }, aclFinalize};
    for (const auto& end : ends) {
      int status = 0;
      {
        const ShortMemory memory(shortage);
        status = end();
        failures += ShortMemory::failures();
      }
      if (status == 0) continue;
      EXPECT_EQ(status, ACL_ERROR_BAD_ALLOC);
      EXPECT_EQ(end(), 0) << TakeMessage();
    }
    RuntimeTest::SetUp();
    EXPECT_EQ(FreeMemory(), TotalMemory()) << "all was freed";
  }
}

// What a synchronise ran ahead of the workers is not kept for them beyond aclFinalize.
TEST_F(ShortMemoryTest, StreamsOfALifeThatHasEnded) {
  std::vector<int64_t> live(40);
  for (int64_t& blocks : live) {
    const aclrtStream stream = NewStream();
    const aclrtEvent event = NewEvent();
    ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    ASSERT_EQ(aclrtDestroyEvent(event), 0);
    RuntimeTest::TearDown();
    blocks = test::LiveBlocks();
    RuntimeTest::SetUp();
  }
  EXPECT_EQ(live.back(), live[5]);
}

// A thread that has never had memory for a message has one all the same, and an error.
TEST_F(ShortMemoryTest, MessagesOfAThreadWithoutMemory) {
  int unset = -1, last = -1, status = 0;
  const char *none = "", *text = nullptr, *next = nullptr;
  std::string first;
  std::thread thread([&] {
    {
      const ShortMemory shortage(kNone);
      unset = aclrtGetLastError(ACL_RT_THREAD_LEVEL);
      none = aclGetRecentErrMsg();
      status = aclrtSetCurrentContext(nullptr);
      text = aclGetRecentErrMsg();
      next = aclGetRecentErrMsg();
      last = aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    }
    first = text != nullptr ? text : "";
    EXPECT_EQ(aclrtGetLastError(static_cast<aclrtLastErrLevel>(7)), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(TakeMessage(),
              "EE1001: aclrtGetLastError: level value is 7, expected ACL_RT_THREAD_LEVEL (0)");
  });
  thread.join();
  EXPECT_EQ(unset, 0);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(status, ACL_ERROR_BAD_ALLOC) << "there was no memory for the text of another";
  EXPECT_EQ(first, "EE1013: aclrtSetCurrentContext: out of memory");
  EXPECT_EQ(next, nullptr) << "taken";
  EXPECT_EQ(last, ACL_ERROR_BAD_ALLOC);
}

// What the libraries offer each other are C functions: nothing is thrown through them.
TEST_F(ShortMemoryTest, Borders) {
  const OpenaclnnRuntime* runtime = openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE);
  const OpenaclnnMeta* meta = openaclnn_meta(OPENACLNN_META_INTERFACE);
  aclrtStream stream = NewStream();
  int released = 0;
  const OpenaclnnTask task = {.name = "task",
                              .run = [](void*, OpenaclnnMessage*) { return 0; },
                              .release = [](void* count) { ++*static_cast<int*>(count); },
                              .state = &released,
                              .arguments = nullptr,
                              .each_pin = nullptr};
  OpenaclnnMessage message = {};
  for (int i = 0; i < kTimes; ++i) {
    EachFailure([&] { return runtime->submit(stream, &task, &message); },
                [&] { ASSERT_EQ(released, i) << "still the caller's"; });
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    ASSERT_EQ(released, i + 1);
  }
  EXPECT_STREQ(message.text, "out of memory");
  void* const held = runtime->hold(stream, &message);
  for (int i = kTimes; i < 2 * kTimes; ++i) {
    uint64_t number = 0;
    EachFailure([&] { return runtime->submit_held(held, &task, &number, &message); },
                [&] { ASSERT_EQ(released, i) << "still the caller's"; });
    runtime->await_launch(held, number);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    ASSERT_EQ(released, i + 1);
  }
  EXPECT_NE(runtime->stream_number(held), 0u);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_EQ(runtime->stream_number(held), 0u);
  runtime->let_go(held);

  void* none = reinterpret_cast<void*>(uintptr_t{1});  // for which there are no words
  OpenaclnnAttribute attribute = {};
  int submitted = 0, has = 1, executed = 0;
  {
    const ShortMemory shortage(kNone);
    submitted = runtime->submit(none, &task, &message);
    has = runtime->attribute(none, "name", &attribute);
    executed =
        meta->execute("aclnnAbs", nullptr, 0, static_cast<aclOpExecutor*>(none), nullptr, &message);
    runtime->record_error(ACL_ERROR_RT_PARAM_INVALID, "aclSomething: text is lost, expected kept");
  }
  EXPECT_EQ(submitted, ACL_ERROR_BAD_ALLOC);
  EXPECT_EQ(has, 0);
  EXPECT_EQ(executed, ACL_ERROR_BAD_ALLOC);
  EXPECT_EQ(TakeMessage(), "EE1001: aclSomething: text is lost, expected kept");
}

// A list owns its members from when it has a handle.
TEST_F(ShortMemoryTest, MembersOfAListThatIsNotMade) {
  constexpr Shortage kNoTables = {.fails = Shortage::Fails::kFromThenOn, .least_bytes = 4097};
  const auto tensor = [] {
    return aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  };
  ASSERT_EQ(aclDestroyTensor(tensor()), 0);  // there is a table
  std::vector<const aclTensor*> tensors;
  tensors.reserve(5000);
  const aclTensorList* list = nullptr;
  {
    const ShortMemory shortage(kNoTables);
    while (tensors.size() < 5000) {
      const aclTensor* made = tensor();
      if (made == nullptr) break;
      tensors.push_back(made);
    }
    list = aclCreateTensorList(tensors.data(), 2);
  }
  ASSERT_LT(tensors.size(), 5000u) << "handles ran out";
  EXPECT_EQ(list, nullptr);
  for (const aclTensor* each : tensors)
    EXPECT_EQ(aclDestroyTensor(each), 0) << "still the caller's";
}

/// Checks lack what they need, and say nothing that is not so.
class ShortWatchTest : public ShortMemoryTest {
 protected:
  void SetUp() override {
    ShortMemoryTest::SetUp();
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    ShortMemoryTest::TearDown();
  }
  /// The first allocation of the call fails, then the second alone, …; look(status) after each.
  template <class Call, class Look>
  static void EachAlone(Call&& call, Look&& look) {
    int64_t failures = 1;
    for (int64_t first = 0; failures > 0; ++first) {
      SCOPED_TRACE(first);
      ASSERT_LT(first, 100);
      int status = 0;
      {
        const ShortMemory shortage({.first = first});
        status = call();
        failures = ShortMemory::failures();
      }
      look(status);
    }
  }

 private:
  const Variable check_{"OPENACLNN_CHECK", "full"};
};

// It is told of before it is made.
TEST_F(ShortWatchTest, ALaunchThatFailedRacesWithNobody) {
  const DeviceArray<uint8_t> memory(64);
  const aclrtStream first = NewStream(), second = NewStream();
  const auto fill = [&](aclrtStream on) { return aclrtMemsetAsync(memory.data(), 4, 1, 4, on); };
  int refused = 0;
  EachAlone([&] { return fill(first); },
            [&](int status) {
              if (status != 0) {
                ++refused;
                ASSERT_EQ(fill(second), 0);
              }
              ASSERT_EQ(aclrtSynchronizeDevice(), 0);
            });
  EXPECT_GT(refused, 0);
  EXPECT_EQ(aclrtDestroyStream(first), 0);
  EXPECT_EQ(aclrtDestroyStream(second), 0);
}

TEST_F(ShortWatchTest, WhatATaskMayHaveWrittenIsWritten) {
  const int64_t dims[] = {4};
  const DeviceArray<float> from({-1, 2, -3, 4});
  const auto tensor = [&](void* data) {
    return aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, data);
  };
  void* memory = nullptr;
  aclTensor *self = tensor(from.data()), *out = nullptr;
  const auto renew = [&] {
    ASSERT_EQ(aclrtMalloc(&memory, from.bytes(), ACL_MEM_MALLOC_HUGE_FIRST), 0);
    out = tensor(memory);
  };
  const auto call = [&] {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    int status = aclnnAbsGetWorkspaceSize(self, out, &size, &executor);
    if (status != 0) return status;
    status = aclnnAbs(nullptr, size, executor, nullptr);
    if (status != 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    }
    return status;
  };
  renew();
  EachAlone(call, [&](int status) {
    float host[4] = {};
    ASSERT_EQ(aclrtSynchronizeDevice(), 0);
    if (status == 0) {
      EXPECT_EQ(aclrtMemcpy(host, sizeof(host), memory, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST),
                0);
      EXPECT_EQ(host[2], 3);
    }
    EXPECT_EQ(aclDestroyTensor(out), 0);
    EXPECT_EQ(aclrtFree(memory), 0);
    renew();
  });
  EXPECT_EQ(aclDestroyTensor(self), 0);
  EXPECT_EQ(aclDestroyTensor(out), 0);
  EXPECT_EQ(aclrtFree(memory), 0);
}

TEST_F(ShortWatchTest, AllocationsDoWithoutTheirCallStack) {
  void* memory = nullptr;
  const auto allocate = [&] { return aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST); };
  EachAlone(allocate, [&](int status) {
    if (status == 0) {
      EXPECT_EQ(aclrtFree(memory), 0);
    }
  });
}

/// The name of the file for reports, which a handler of signals may be using at any time.
class ReportNameTest : public testing::Test {
 protected:
  ReportNameTest() { std::filesystem::create_directory(folder_); }
  ~ReportNameTest() override { std::filesystem::remove_all(folder_); }

  static void Live() {
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(aclFinalize(), 0);
  }

  const std::string folder_ = testing::TempDir() + "report_name." + std::to_string(getpid());
  const std::string old_ = folder_ + "/old", new_ = folder_ + "/new";

 private:
  const Variable check_{"OPENACLNN_CHECK", "fast"};
};

TEST_F(ReportNameTest, IsKeptOnce) {
  const Variable name("OPENACLNN_CHECK_JSON", new_.c_str());
  Live();
  const int64_t before = test::LiveBlocks();
  Live();
  EXPECT_EQ(test::LiveBlocks(), before);
}

TEST_F(ReportNameTest, WithoutMemoryForItThereIsNoFile) {
  testing::internal::CaptureStderr();
  int64_t failures = 1;
  for (int64_t first = 0; failures > 0; ++first) {
    SCOPED_TRACE(first);
    ASSERT_LT(first, 200);
    {
      const Variable name("OPENACLNN_CHECK_JSON", old_.c_str());
      Live();
    }
    const Variable name("OPENACLNN_CHECK_JSON", new_.c_str());
    int status = 0;
    {
      const ShortMemory shortage({.first = first});
      status = aclInit(nullptr);
      failures = ShortMemory::failures();
    }
    if (status != 0) continue;
    int host = 0;
    EXPECT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(aclrtFree(&host), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclFinalize(), 0);
  }
  (void)testing::internal::GetCapturedStderr();
  EXPECT_FALSE(std::filesystem::exists(old_));
  EXPECT_TRUE(std::filesystem::exists(new_));
}

}  // namespace
}  // namespace openaclnn
