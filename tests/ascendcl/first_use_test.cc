// SPDX-License-Identifier: Apache-2.0
// Fork while another thread is in the process's first call: the child is refused, and does not
// hang.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

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

}  // namespace
}  // namespace openaclnn
