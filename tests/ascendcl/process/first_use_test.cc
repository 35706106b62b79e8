// SPDX-License-Identifier: Apache-2.0
// Fork while another thread is in the process's first call: the child is refused, and does not
// hang. And while one calls what makes nothing that a child would lack: it may call that too.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "aclnnop/aclnn_add.h"
#include "tests/ascendcl/fixture.h"

namespace {

enum Gate { kOpen, kShut, kReached };
std::atomic<Gate> g_gate{kOpen};

}  // namespace

/// Stands in front of the C library's: while the gate is shut, who asks for the product waits, with
/// whatever locks it holds.
extern "C" __attribute__((visibility("default"))) char* getenv(const char* name) noexcept {
  const size_t length = strlen(name);
  Gate shut = kShut;
  if (strcmp(name, "OPENACLNN_SOC") == 0 && g_gate.compare_exchange_strong(shut, kReached)) {
    while (g_gate == kReached) sched_yield();
  }
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  }
  return nullptr;
}

namespace openaclnn {
namespace {

/// What a child of fork gets; 0, or the line that is not so.
int UseInChild() {
  const int refused = ACL_ERROR_UNINITIALIZE;
  uint32_t count = 0;
  alarm(20);  // a hang is a failure
  if (aclInit(nullptr) != refused || aclrtSetDevice(0) != refused) return __LINE__;
  if (TakeMessage().find("child of fork") == std::string::npos) return __LINE__;
  if (aclrtGetDeviceCount(&count) != refused || aclFinalize() != refused) return __LINE__;
  aclAppLog(ACL_ERROR, "UseInChild", "first_use_test.cc", 1, "a line");
  return aclrtResetDevice(0);
}

/// Forks while `first`, the process's first call, is under way in another thread.
int ForkDuring(int (*first)()) {
  int code = -1, status = -1;
  g_gate = kShut;
  std::thread thread([&] { code = first(); });
  while (g_gate != kReached) sched_yield();
  const pid_t child = fork();
  g_gate = kOpen;
  if (child == 0) _exit(UseInChild());
  thread.join();
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return 1;
  return code == 0 ? WEXITSTATUS(status) : 2;
}

class FirstUseTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";  // each in a process of its own
  }
};

TEST_F(FirstUseTest, Init) {
  EXPECT_EXIT(_exit(ForkDuring([] { return aclInit(nullptr); })), testing::ExitedWithCode(0), "");
}

TEST_F(FirstUseTest, SetDevice) {
  EXPECT_EXIT(_exit(ForkDuring([] { return aclrtSetDevice(0); })), testing::ExitedWithCode(0), "");
}

TEST_F(FirstUseTest, Query) {
  const auto query = [] {
    uint32_t count = 0;
    return aclrtGetDeviceCount(&count);
  };
  EXPECT_EXIT(_exit(ForkDuring(query)), testing::ExitedWithCode(0), "");
}

struct Call {
  const char* name;
  void (*make)();
};

const Call kCalls[] = {
    {"Tensor",
     [] {
       const int64_t one = 1;
       EXPECT_EQ(aclDestroyTensor(
                     aclCreateTensor(&one, 1, ACL_FLOAT, &one, 0, ACL_FORMAT_ND, &one, 1, nullptr)),
                 0);
     }},
    {"Descriptions",
     [] {
       const int64_t one = 1;
       aclDestroyTensorDesc(aclCreateTensorDesc(ACL_FLOAT, 1, &one, ACL_FORMAT_ND));
       EXPECT_EQ(aclDestroyDataBuffer(aclCreateDataBuffer(nullptr, 0)), 0);
     }},
    {"Allocator", [] { EXPECT_EQ(aclrtAllocatorDestroyDesc(aclrtAllocatorCreateDesc()), 0); }},
    {"Log", [] { aclAppLog(ACL_ERROR, "Log", "first_use_test.cc", 1, "a line"); }},
    {"Free", [] { EXPECT_NE(aclrtFree(reinterpret_cast<void*>(16)), 0); }},
    {"Attributes",
     [] {
       aclrtPtrAttributes attributes = {};
       (void)aclrtPointerGetAttributes(&attributes, &attributes);
     }},
    {"Stream", [] { EXPECT_NE(aclrtSynchronizeStream(reinterpret_cast<aclrtStream>(16)), 0); }},
    {"Report", [] { EXPECT_NE(aclrtProcessReport(0), 0); }},
    {"SharedTensor",
     [] {
       static const int64_t one = 1;
       static aclTensor* const tensor =
           aclCreateTensor(&one, 1, ACL_FLOAT, &one, 0, ACL_FORMAT_ND, &one, 1, nullptr);
       // In a child it may be stale: another thread was changing it.
       (void)aclInitTensor(tensor, &one, 1, ACL_FLOAT, &one, 0, ACL_FORMAT_ND, &one, 1, nullptr);
     }},
    {"Phase1",
     [] {
       uint64_t bytes = 0;
       aclOpExecutor* executor = nullptr;
       EXPECT_NE(aclnnAddGetWorkspaceSize(nullptr, nullptr, nullptr, nullptr, &bytes, &executor),
                 0);
     }},
};

// GCC 12's AddressSanitizer does not hold its allocator's locks, so that a child may wait for one
// for ever.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kForksBesideThreads = false;
#else
constexpr bool kForksBesideThreads = true;
#endif

/// Whether none of so many children hangs, or fails, while another thread calls.
template <class Beside, class InChild>
int ForkBeside(int children, const Beside& beside, const InChild& in_child) {
  std::atomic<bool> done{false};
  std::thread thread([&] {
    while (!done) beside();
  });
  int status = 0;
  for (int i = 0; i < children && status == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a hang is a failure
      in_child();
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    waitpid(child, &status, 0);
  }
  done = true;
  thread.join();
  return status;
}

int ForkBeside(const Call& call) {
  call.make();  // a child of whose first is refused
  return ForkBeside(60, call.make, call.make);
}

class BesideTest : public FirstUseTest, public testing::WithParamInterface<Call> {};

TEST_P(BesideTest, AChildMayCallTheSame) {
  if (!kForksBesideThreads) GTEST_SKIP() << "this allocator's locks are not held during a fork";
  EXPECT_EXIT(_exit(ForkBeside(GetParam()) == 0 ? 0 : 1), testing::ExitedWithCode(0), "");
}

// Refused in the parent; a child may be refused as one that has used the runtime.
int ForkBesideEnds() {
  const auto end = [] {
    (void)aclFinalize();
    (void)aclrtResetDevice(0);
  };
  const auto begin = [] {
    (void)aclFinalize();
    (void)aclrtResetDevice(0);
    (void)aclInit(nullptr);
  };
  return ForkBeside(300, end, begin);
}

TEST_F(FirstUseTest, EndsBeside) {
  if (!kForksBesideThreads) GTEST_SKIP() << "this allocator's locks are not held during a fork";
  EXPECT_EXIT(_exit(ForkBesideEnds() == 0 ? 0 : 1), testing::ExitedWithCode(0), "");
}

/// A thread that serves a stream, and forks: in the child it ends. What it unwinds has no objects.
void* ForkAsSubscriber(void* context) {
  static int wrong = 0;
  if (aclrtSetCurrentContext(context) != 0) return &wrong;
  if (aclrtSubscribeReport(pthread_self(), nullptr) != 0) return &wrong;
  // Nobody takes it, so that the end of the thread would end it in the stream.
  const auto none = [](void*) {};
  if (aclrtLaunchCallback(none, nullptr, ACL_CALLBACK_NO_BLOCK, nullptr) != 0) return &wrong;
  for (int i = 0; i < 400; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a hang is a failure
      pthread_exit(nullptr);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return &wrong;
  }
  return nullptr;
}

int ForkWhileServing() {
  aclrtContext context = nullptr;
  void *memory = nullptr, *wrong = nullptr;
  if (aclInit(nullptr) + aclrtSetDevice(0) + aclrtGetCurrentContext(&context) != 0) return __LINE__;
  if (aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0) return __LINE__;
  std::atomic<bool> done{false};
  std::thread beside([&] {
    (void)aclrtSetCurrentContext(context);
    while (!done) {
      for (int i = 0; i < 20; ++i) (void)aclrtMemsetAsync(memory, 64, 1, 64, nullptr);
      (void)aclrtSynchronizeStream(nullptr);
    }
  });
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, ForkAsSubscriber, context) != 0) return __LINE__;
  pthread_join(thread, &wrong);
  done = true;
  beside.join();
  return wrong == nullptr ? 0 : 1;
}

TEST_F(FirstUseTest, AThreadThatServesEndsInAChild) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "GCC 12's ThreadSanitizer ends no thread in a child";
#endif
  if (!kForksBesideThreads) GTEST_SKIP() << "this allocator's locks are not held during a fork";
  EXPECT_EXIT(_exit(ForkWhileServing()), testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Calls, BesideTest, testing::ValuesIn(kCalls),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace openaclnn
