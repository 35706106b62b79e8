// SPDX-License-Identifier: Apache-2.0
// Children of fork: refusals that name fork, harmless destroys, no hang whatever the parent does.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

/// Runs `body` in a child of fork; what it returns is the child's exit code.
template <class Body>
int InChild(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a hang is a failure
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class ForkTest : public RuntimeTest {};

TEST_F(ForkTest, ChildIsRefusedAndMayFree) {
  aclrtStream stream = NewStream();
  aclrtEvent event = NewEvent();
  DeviceArray<uint8_t> bytes(64);
  PinnedBytes pinned(64);
  const int64_t dims[] = {4};
  aclTensor* tensor = Gradient::Tensor({4}, ACL_FLOAT, bytes.data());
  const int line = InChild([&]() -> int {
    void* made = nullptr;
    const int refused = ACL_ERROR_UNINITIALIZE;
    if (aclInit(nullptr) != refused || aclFinalize() != refused) return __LINE__;
    if (TakeMessage().find("child of fork") == std::string::npos) return __LINE__;
    if (aclrtSetDevice(0) != refused || aclrtCreateStream(&made) != refused) return __LINE__;
    if (aclrtMalloc(&made, 1, ACL_MEM_MALLOC_HUGE_FIRST) != refused) return __LINE__;
    if (aclrtSynchronizeStream(stream) != refused || aclrtSynchronizeDevice() != refused) {
      return __LINE__;
    }
    if (aclrtMemcpy(made, 64, bytes.data(), 64, ACL_MEMCPY_DEVICE_TO_HOST) != refused) {
      return __LINE__;
    }
    if (aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, nullptr)) {
      return __LINE__;
    }
    if (TakeMessage().find("child of fork") == std::string::npos) return __LINE__;
    const bool freed = aclrtDestroyStream(stream) == 0 && aclrtDestroyEvent(event) == 0 &&
                       aclrtFree(bytes.data()) == 0 && aclrtFreeHost(pinned.data()) == 0 &&
                       aclDestroyTensor(tensor) == 0 && aclrtResetDevice(0) == 0;
    return freed ? 0 : __LINE__;
  });
  EXPECT_EQ(line, 0) << "fork_test.cc:" << line;
  EXPECT_EQ(aclDestroyTensor(tensor), 0) << "the parent's is another";
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

TEST_F(ForkTest, ParentsWorkGoesOn) {
  aclrtStream stream = NewStream();
  DeviceArray<uint8_t> bytes(64);
  Gate gate(stream);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 4, 64, stream), 0);
  EXPECT_EQ(InChild([&] { return aclrtDestroyStream(stream); }), 0);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 4));
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// On threads of the runtime, and of those that serve it.
TEST_F(ForkTest, InFunctionsOfTheHost) {
  aclrtStream stream = NewStream();
  DeviceArray<uint8_t> bytes(64);
  struct Fork {
    void* memory;
    int line = -1;
  } forks[] = {{bytes.data()}, {bytes.data()}};
  const auto fork_here = [](void* argument) {
    auto* const here = static_cast<Fork*>(argument);
    here->line = InChild([&]() -> int {
      const int refused = ACL_ERROR_UNINITIALIZE;
      void* made = nullptr;
      if (aclrtCreateStream(&made) != refused || aclFinalize() != refused) return __LINE__;
      if (aclrtSynchronizeDevice() != refused) return __LINE__;
      return aclrtFree(here->memory) == 0 && aclrtResetDevice(0) == 0 ? 0 : __LINE__;
    });
  };
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, fork_here, &forks[0]), 0);
  ASSERT_EQ(aclrtLaunchCallback(fork_here, &forks[1], ACL_CALLBACK_BLOCK, stream), 0);
  EXPECT_EQ(aclrtProcessReport(10'000), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  for (const Fork& each : forks) EXPECT_EQ(each.line, 0) << "fork_test.cc:" << each.line;
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// Forks while other threads hold whatever lock they happen to hold.
TEST_F(ForkTest, NoHangInRandomStates) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 3; ++i) {
    busy.emplace_back([&] {
      ASSERT_EQ(aclrtSetCurrentContext(context), 0);
      aclrtStream stream = NewStream();
      while (!stop) {
        DeviceArray<uint8_t> bytes(256);
        EXPECT_EQ(aclrtMemsetAsync(bytes.data(), 256, 1, 256, stream), 0);
        EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
      }
      EXPECT_EQ(aclrtDestroyStream(stream), 0);
    });
  }
  DeviceArray<uint8_t> bytes(64);
  for (int i = 0; i < 1000; ++i) {
    const int status = InChild([&] {
      void* made = nullptr;
      return aclrtMalloc(&made, 1, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_UNINITIALIZE &&
                     aclrtFree(bytes.data()) == 0
                 ? 0
                 : 1;
    });
    ASSERT_EQ(status, 0) << "child " << i;
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
}

/// A program that forks before it uses the runtime, as one with a pool of worker processes does.
int ForkBeforeUse() {
  uint32_t count = 0;
  if (aclrtGetDeviceCount(&count) != 0) return 1;  // to ask is not to use
  const int child = InChild([] {
    void* made = nullptr;
    return aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0 &&
                   aclrtMalloc(&made, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0 &&
                   aclrtMemsetAsync(made, 64, 1, 64, nullptr) == 0 &&
                   aclrtSynchronizeDevice() == 0 && aclFinalize() == 0
               ? 0
               : 1;
  });
  return child == 0 && aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0 ? 0 : 1;
}

TEST(ForkBeforeUse, ChildMayUseTheRuntime) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // in a process that has not used it
  EXPECT_EXIT(_exit(ForkBeforeUse()), testing::ExitedWithCode(0), "");
}

// What the parent has ended it has used.
TEST(ForkAfterUse, ChildIsRefusedAndTheParentLivesOn) {
  for (int life = 0; life < 2; ++life) {
    ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
    ASSERT_EQ(aclrtSetDevice(0), 0) << TakeMessage();
    ASSERT_EQ(aclFinalize(), 0) << TakeMessage();
    EXPECT_EQ(InChild([] {
                const int refused = ACL_ERROR_UNINITIALIZE;
                return aclInit(nullptr) == refused && aclrtSetDevice(0) == refused ? 0 : 1;
              }),
              0);
  }
}

}  // namespace
}  // namespace openaclnn
