// SPDX-License-Identifier: Apache-2.0
// aclrtSetExceptionInfoCallback: the program is told of each task that fails, before the stream
// goes on.
#include <pthread.h>
#include <signal.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

using Info = std::array<uint32_t, 5>;  // task, stream, thread, device, code

// What the function below has seen. It runs on other threads, before a synchronise returns.
std::vector<Info> g_seen;
std::atomic<int> g_synchronize{0};
aclrtStream g_stream = nullptr;

Info Read(const aclrtExceptionInfo* info) {
  return {aclrtGetTaskIdFromExceptionInfo(info), aclrtGetStreamIdFromExceptionInfo(info),
          aclrtGetThreadIdFromExceptionInfo(info), aclrtGetDeviceIdFromExceptionInfo(info),
          aclrtGetErrorCodeFromExceptionInfo(info)};
}

void Keep(aclrtExceptionInfo* info) { g_seen.push_back(Read(info)); }
void Throw(aclrtExceptionInfo* info) {
  Keep(info);
  throw 1;  // of any kind
}
void Synchronize(aclrtExceptionInfo*) { g_synchronize = aclrtSynchronizeStream(g_stream); }

class ExceptionInfoTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    g_seen.clear();
    g_stream = stream = NewStream();
    bad.emplace(Gradient::kOutOfRange);
    good.emplace(0);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), 0);
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
    bad.reset();
    good.reset();
    RuntimeTest::TearDown();
  }
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kCode = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
  aclrtStream stream = nullptr;
  std::optional<Gradient> bad, good;
};

TEST_F(ExceptionInfoTest, EachFailureIsToldOnce) {
  ASSERT_EQ(aclrtSetExceptionInfoCallback(Keep), 0);
  for (Gradient* each : {&*good, &*bad, &*good, &*bad}) ASSERT_EQ(each->Launch(stream), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  ASSERT_EQ(g_seen.size(), 2u);
  EXPECT_EQ(g_seen[0], (Info{2, g_seen[1][1], kNone, 0, kCode}));
  EXPECT_EQ(g_seen[1][0], 4u);
  aclrtStream other = NewStream();
  ASSERT_EQ(bad->Launch(other), 0);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  ASSERT_EQ(g_seen.size(), 3u);
  EXPECT_EQ(g_seen[2][0], 1u);
  EXPECT_NE(g_seen[2][1], g_seen[1][1]) << "another stream";
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

TEST_F(ExceptionInfoTest, NullEndsIt) {
  ASSERT_EQ(aclrtSetExceptionInfoCallback(Keep), 0);
  ASSERT_EQ(aclrtSetExceptionInfoCallback(nullptr), 0);
  ASSERT_EQ(bad->Launch(stream), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  EXPECT_TRUE(g_seen.empty());
}

TEST_F(ExceptionInfoTest, WhatItThrowsChangesNothing) {
  ASSERT_EQ(aclrtSetExceptionInfoCallback(Throw), 0);
  ASSERT_EQ(bad->Launch(stream), 0);
  ASSERT_EQ(good->Launch(stream), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  EXPECT_EQ(TakeMessage().substr(0, 8), "EZ2001: ") << "the task's";
  EXPECT_EQ(g_seen.size(), 1u);
  EXPECT_EQ(good->out().Read()[0], 1.0F);
}

TEST_F(ExceptionInfoTest, ItMayNotWaitForItsOwnStream) {
  ASSERT_EQ(aclrtSetExceptionInfoCallback(Synchronize), 0);
  ASSERT_EQ(bad->Launch(stream), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  // A thread of the runtime's own has no context to begin with.
  EXPECT_TRUE(g_synchronize == ACL_ERROR_RT_NO_PERMISSION ||
              g_synchronize == ACL_ERROR_RT_CONTEXT_NULL)
      << g_synchronize;
}

// As the stream's error it is told of; its task is over where the stream did not wait for it.
TEST_F(ExceptionInfoTest, FunctionsOfTheHostThatThrow) {
  ASSERT_EQ(aclrtSetExceptionInfoCallback(Keep), 0);
  ASSERT_EQ(good->Launch(stream), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream, [](void*) { throw 1; }, nullptr),
            0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(g_seen.size(), 1u);
  EXPECT_EQ(g_seen[0][0], 2u);
  EXPECT_EQ(g_seen[0][4], static_cast<uint32_t>(ACL_ERROR_RT_PARAM_INVALID));
}

/// What a task's thread is like when it calls the function, and the calls that it makes there.
struct InTask {
  static inline aclrtContext context = nullptr;
  static inline aclrtStream held = nullptr;
  static inline std::atomic<int> open_signals{0}, init{0}, wait{0};

  static void Look(aclrtExceptionInfo*) {
    sigset_t none{}, before{};
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    if (sigismember(&before, SIGUSR1) == 0) ++open_signals;
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // denormals are zeros
#endif
    (void)aclrtSetCurrentContext(context);
    init = aclInit(nullptr);
    if (held != nullptr) wait = aclrtSynchronizeStream(held);
  }
};

// More often than there are threads that could be lost.
TEST_F(ExceptionInfoTest, WhatItChoosesForItsThreadIsNotTheNextTasks) {
  InTask::open_signals = 0;
  ASSERT_EQ(aclrtGetCurrentContext(&InTask::context), 0);
  ASSERT_EQ(aclrtSetExceptionInfoCallback(InTask::Look), 0);
  constexpr float kSmall = 1e-40F;
  Gradient denormal(0, 2);
  const std::vector<float> small(8, kSmall);
  ASSERT_EQ(aclrtMemcpy(denormal.grad().data(), 32, small.data(), 32, ACL_MEMCPY_HOST_TO_DEVICE),
            0);
  for (int i = 0; i < 20; ++i) {
    Gate gate(stream);
    gate.AwaitReached();
    ASSERT_EQ(bad->Launch(stream), 0);
    ASSERT_EQ(denormal.Launch(stream), 0);
    gate.Open();
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (status != ACL_STREAM_STATUS_COMPLETE && std::chrono::steady_clock::now() < until) {
      ASSERT_EQ(aclrtStreamQuery(stream, &status), 0);
    }
    ASSERT_EQ(status, ACL_STREAM_STATUS_COMPLETE) << i;
    EXPECT_EQ(denormal.out().Read()[0], kSmall + kSmall);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  }
  EXPECT_EQ(InTask::open_signals, 0);
  EXPECT_EQ(InTask::init, ACL_ERROR_RT_NO_PERMISSION) << "which may have to end the thread";
}

// Its thread may be the only one that could do the work.
TEST_F(ExceptionInfoTest, ItMayNotWaitForAnotherStreamEither) {
  const aclrtStream other = NewStream();
  Gate gate(other);
  gate.AwaitReached();
  ASSERT_EQ(aclrtGetCurrentContext(&InTask::context), 0);
  InTask::held = other;
  ASSERT_EQ(aclrtSetExceptionInfoCallback(InTask::Look), 0);
  ASSERT_EQ(bad->Launch(stream), 0);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) {
    ASSERT_EQ(aclrtStreamQuery(stream, &status), 0);
  }
  EXPECT_EQ(InTask::wait, ACL_ERROR_RT_NO_PERMISSION);
  InTask::held = nullptr;
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  gate.Open();
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

TEST_F(ExceptionInfoTest, NoInfoHasNoNumbers) {
  EXPECT_EQ(Read(nullptr), (Info{kNone, kNone, kNone, kNone, kNone}));
}

}  // namespace
}  // namespace openaclnn
