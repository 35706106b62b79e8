// SPDX-License-Identifier: Apache-2.0
// Life of the runtime: start, end, start again, and what is left at the end.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "openaclnn/version.h"
#include "tests/ascendcl/gradient.h"
#include "tests/ascendcl/threads.h"

namespace openaclnn {
namespace {

size_t FreeMemory() {
  size_t free = 0, total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0) << TakeMessage();
  return free;
}

TEST(LifeTest, CallsAreNotCounted) {
  ExpectRefused({"aclFinalize", [] { return aclFinalize(); }, ACL_ERROR_REPEAT_FINALIZE,
                 "library state is not initialised"});
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
    ExpectRefused({"aclInit", [] { return aclInit(nullptr); }, ACL_ERROR_REPEAT_INITIALIZE,
                   "library state is initialised"});
    EXPECT_EQ(aclFinalize(), 0);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  }
}

TEST(LifeTest, FinalizeWaitsForWorkAndEndsEverything) {
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  PinnedBytes pinned(64);
  void* left = nullptr;
  ASSERT_EQ(aclrtMalloc(&left, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  {
    Gate gate(stream);
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(aclrtMemsetAsync(pinned.data(), 64, i, 64, stream), 0);
    }
    gate.OpenSoon();
    EXPECT_EQ(aclFinalize(), 0) << TakeMessage();
  }
  EXPECT_EQ(pinned.data()[0], 99);
  int32_t device = 0;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtFree(left), ACL_ERROR_RT_PARAM_INVALID) << "aclFinalize frees what is left";
  EXPECT_EQ(aclFinalize(), 0);
}

TEST(LifeTest, FinalizeEndsTheThreads) {
  size_t before = 0;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(aclInit(nullptr), 0);
    if (round == 0) before = CountThreads();
    ASSERT_EQ(aclrtSetDevice(0), 0);
    aclrtStream streams[3] = {};
    std::vector<std::unique_ptr<Gate>> gates;
    for (aclrtStream& stream : streams) {
      ASSERT_EQ(aclrtCreateStream(&stream), 0);
      gates.push_back(std::make_unique<Gate>(stream));
    }
    for (const auto& gate : gates) gate->AwaitReached();
    EXPECT_GT(CountThreads(), before + 3) << "a worker, and one for each host function";
    gates.clear();
    EXPECT_EQ(aclFinalize(), 0);
    EXPECT_LE(SettledThreads(before), before);
  }
}

TEST(LifeTest, IdleHostThreadsEnd) {
  constexpr size_t kStreams = 30, kKept = 4;
  const Variable workers("OPENACLNN_NUM_THREADS", "1");
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  const size_t before = CountThreads();
  std::vector<aclrtStream> streams(kStreams);
  std::vector<std::unique_ptr<Gate>> gates;
  for (aclrtStream& stream : streams) {
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
    gates.push_back(std::make_unique<Gate>(stream));
  }
  for (const auto& gate : gates) gate->AwaitReached();
  EXPECT_GE(CountThreads(), before + kStreams);
  gates.clear();
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_LE(SettledThreads(before + 1 + kKept), before + 1 + kKept)
      << "a worker, and a few for the next functions";
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_LE(SettledThreads(before), before);  // threads of earlier tests may have ended
}

/// In a process that gets no stack for another thread, until it does; 0, or the line that is not
/// so.
int StartWithoutThreads() {
  pthread_attr_t attributes{};
  size_t usual = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return __LINE__;
  pthread_attr_getstacksize(&attributes, &usual);
  const auto set_stack = [&](size_t bytes) {
    return pthread_attr_setstacksize(&attributes, bytes) == 0 &&
           pthread_setattr_default_np(&attributes) == 0;
  };
  void* made = nullptr;
  if (!set_stack(size_t{1} << 47) || aclInit(nullptr) != 0) return __LINE__;
  if (aclrtSetDevice(0) != ACL_ERROR_RT_RESOURCE_ALLOC_FAIL) return __LINE__;
  if (TakeMessage().find("aclrtSetDevice: thread of the runtime cannot be started") != 8) {
    return __LINE__;
  }
  if (aclrtCreateContext(&made, 0) != ACL_ERROR_RT_RESOURCE_ALLOC_FAIL) return __LINE__;
  if (!set_stack(usual) || aclrtSetDevice(0) != 0 || aclrtCreateStream(&made) != 0) return __LINE__;
  return aclrtSynchronizeDevice() == 0 && aclFinalize() == 0 ? 0 : __LINE__;
}

// Polling, timed waits and waits between streams would never end.
TEST(StartTest, WithoutThreadsIsRefused) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // in a process that has none yet
  EXPECT_EXIT(_exit(StartWithoutThreads()), testing::ExitedWithCode(0), "");
}

/// A function that waits for another, where no second thread can be started; 0, or the line that is
/// not so.
int WaitForAFunctionWithoutThreads() {
  struct Pair {
    aclrtContext context = nullptr;
    aclrtStream first = nullptr, second = nullptr;
    std::atomic<bool> running{false}, launched{false};
    int code = -1;
  } pair;
  const auto wait = [](void* argument) {
    auto& both = *static_cast<Pair*>(argument);
    both.running = true;
    while (!both.launched) std::this_thread::yield();
    if (aclrtSetCurrentContext(both.context) == 0) {
      both.code = aclrtSynchronizeStream(both.second);
    }
  };
  alarm(20);  // a hang is a failure
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  if (aclrtGetCurrentContext(&pair.context) != 0) return __LINE__;
  if (aclrtCreateStream(&pair.first) + aclrtCreateStream(&pair.second) != 0) return __LINE__;
  if (aclrtLaunchHostFunc(pair.first, wait, &pair) != 0) return __LINE__;
  while (!pair.running) std::this_thread::yield();
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return __LINE__;
  if (pthread_attr_setstacksize(&attributes, size_t{1} << 47) != 0) return __LINE__;
  if (pthread_setattr_default_np(&attributes) != 0) return __LINE__;
  if (aclrtLaunchHostFunc(
          pair.second, [](void*) {}, nullptr) != 0)
    return __LINE__;
  pair.launched = true;
  if (aclrtSynchronizeStream(pair.first) != 0) return __LINE__;
  return pair.code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL ? 0 : __LINE__;
}

TEST(StartTest, AFunctionThatNoThreadIsLeftForIsRefused) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(_exit(WaitForAFunctionWithoutThreads()), testing::ExitedWithCode(0), "");
}

size_t Mappings() {
  std::ifstream file("/proc/self/maps");
  return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

// A thread that is cancelled ends where it waits next, but not within a call that only writes.
TEST(LifeTest, CancelledThreadsEndTheirCalls) {
  ASSERT_EQ(aclInit(nullptr), 0);
  for (const auto& call : {+[] { return aclrtFree(reinterpret_cast<void*>(16)); }, &aclFinalize}) {
    int code = -1;
    std::thread thread([&] {
      pthread_cancel(pthread_self());
      code = call();
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    });
    thread.join();
    EXPECT_EQ(code, call == &aclFinalize ? 0 : ACL_ERROR_RT_PARAM_INVALID);
  }
}

// The thread goes, and leaves its stack to nobody.
TEST(LifeTest, FunctionsThatEndTheirThread) {
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  const size_t idle = CountThreads();
  size_t before = 0;
  for (int i = 0; i < 120; ++i) {
    // Their ends take longer on a busy machine than the next ones' beginnings.
    if (i % 10 == 0) {
      ASSERT_LE(SettledThreads(idle + 1), idle + 1);
    }
    if (i == 20) before = Mappings();
    ASSERT_EQ(aclrtLaunchHostFunc(
                  nullptr, [](void*) { pthread_exit(nullptr); }, nullptr),
              0);
    (void)aclrtSynchronizeStream(nullptr);
  }
  ASSERT_LE(SettledThreads(idle + 1), idle + 1);
  EXPECT_LT(Mappings(), before + 40);
  EXPECT_EQ(aclFinalize(), 0) << TakeMessage();
}

TEST(LifeTest, FinalizeFreesDeviceMemory) {
  size_t before = 0;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
    if (round == 0) before = FreeMemory();
    EXPECT_EQ(FreeMemory(), before);
    void* left = nullptr;
    ASSERT_EQ(aclrtMalloc(&left, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(aclFinalize(), 0);
  }
}

// As static objects of frameworks do, which end the program if they are refused.
TEST(LifeTest, WhatFinalizeFreedMayBeFreedOnceMore) {
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  void *small = nullptr, *large = nullptr, *freed = nullptr, *range = nullptr;
  ASSERT_EQ(aclrtMalloc(&small, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(aclrtMalloc(&large, size_t{100} << 20, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(aclrtReserveMemAddress(&range, 2 << 20, 0, nullptr, 0), 0);
  ASSERT_EQ(aclrtFree(freed), 0);
  ASSERT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclrtFree(freed), ACL_ERROR_RT_PARAM_INVALID) << "the program had freed it";
  EXPECT_EQ(aclrtFree(static_cast<char*>(small) + 1), ACL_ERROR_RT_PARAM_INVALID);
  for (void* left : {small, large}) {
    EXPECT_EQ(aclrtFree(left), 0) << TakeMessage();
    EXPECT_EQ(aclrtFree(left), ACL_ERROR_RT_PARAM_INVALID) << "a second time";
  }
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0) << TakeMessage();
  EXPECT_EQ(aclrtReleaseMemAddress(range), ACL_ERROR_RT_PARAM_INVALID);
}

// An address that is handed out again is its new owner's alone.
TEST(LifeTest, WhatFinalizeFreedMayBeAnothersThen) {
  const Variable check("OPENACLNN_CHECK", "fast");  // with full addresses rest
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  void *left = nullptr, *again = nullptr;
  ASSERT_EQ(aclrtMalloc(&left, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(aclFinalize(), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtMalloc(&again, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(again, left);
  EXPECT_EQ(aclrtFree(again), 0);
  EXPECT_EQ(aclrtFree(again), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

TEST(LifeTest, WorksWithoutInit) {
  ASSERT_EQ(aclrtSetDevice(0), 0) << TakeMessage();
  {
    Gradient gradient(0);
    ASSERT_EQ(gradient.Launch(nullptr), 0) << TakeMessage();
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(gradient.out().Read()[0], 1.0F);
  }
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

TEST(LifeTest, ThreadsInitAndFinalizeAtOnce) {
  std::atomic<int> started{0}, ended{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        if (aclInit(nullptr) == 0) ++started;
        EXPECT_EQ(aclrtSetDevice(0), 0) << TakeMessage();
        if (aclFinalize() == 0) ++ended;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (aclFinalize() == 0) ++ended;
  EXPECT_EQ(started, ended);
}

TEST(LifeTest, MessagesBelongToTheThread) {
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  std::thread([] {
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
    EXPECT_EQ(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(TakeMessage().substr(0, 23), "EH0002: aclrtFreeHost: ");
  }).join();
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), 0);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM)
      << "a success forgets nothing";
  const char* message = aclGetRecentErrMsg();
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(std::string(message).substr(0, 19), "EH0002: aclrtFree: ") << "still valid";
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST(LifeTest, Version) { EXPECT_STREQ(openaclnnGetVersion(), OPENACLNN_VERSION_STRING); }

}  // namespace
}  // namespace openaclnn
