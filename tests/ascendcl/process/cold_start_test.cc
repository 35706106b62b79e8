// SPDX-License-Identifier: Apache-2.0
// The first calls of a process run out of memory, or the kernel refuses: the same calls start it
// once there is some.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string_view>

#include "acl/acl.h"
#include "tests/support/short_kernel.h"

namespace openaclnn::test {
namespace {

enum Outcome { kStarted, kStartedLater, kWrong };

/// What a program does first and last. When a call fails there is memory again, and it is made once
/// more. Null, or the call that went wrong.
template <class Short>
const char* Start(std::optional<Short>* memory) {
  void *stream = nullptr, *block = nullptr;
  aclAppLog(ACL_INFO, __func__, __FILE__, __LINE__, "a line");  // or none, and no code
  const auto tried = [&](auto&& call) {
    if (call() == 0) return true;
    const char* text = aclGetRecentErrMsg();
    if (text == nullptr || std::string_view(text).find(": acl") == std::string_view::npos) {
      return false;
    }
    if (!*memory) return false;
    memory->reset();
    return call() == 0;
  };
  if (!tried([] { return aclInit(nullptr); })) return "aclInit";
  if (!tried([] { return aclrtSetDevice(0); })) return "aclrtSetDevice";
  if (!tried([&] { return aclrtCreateStream(&stream); })) return "aclrtCreateStream";
  if (!tried([&] { return aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST); })) {
    return "aclrtMalloc";
  }
  if (!tried([&] { return aclrtMemsetAsync(block, 64, 1, 64, stream); })) return "aclrtMemsetAsync";
  if (!tried([&] { return aclrtSynchronizeStream(stream); })) return "aclrtSynchronizeStream";
  if (!tried([&] { return aclrtSynchronizeStream(nullptr); })) return "aclrtSynchronizeStream";
  if (!tried([&] { return aclrtFree(block); })) return "aclrtFree";
  if (!tried([&] { return aclrtDestroyStream(stream); })) return "aclrtDestroyStream";
  if (!tried([] { return aclrtResetDevice(0); })) return "aclrtResetDevice";
  if (!tried([] { return aclFinalize(); })) return "aclFinalize";
  return nullptr;
}

template <class Short>
Outcome InThisProcess(const Shortage& shortage) {
  alarm(60);  // a hang is a failure
  std::optional<Short> memory(std::in_place, shortage);
  const char* wrong = Start(&memory);
  memory.reset();
  if (wrong == nullptr) return Short::failures() > 0 ? kStartedLater : kStarted;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %s\n", wrong, text != nullptr ? text : "no message");
  return kWrong;
}

// In a child for each: a library begins once in a process.
template <class Short>
void EachShortage(Shortage::Fails fails) {
  int outcome = kStartedLater;
  for (Shortage shortage = {0, fails, Shortage::Threads::kAll}; outcome != kStarted;
       ++shortage.first) {
    SCOPED_TRACE(shortage.first);
    ASSERT_LT(shortage.first, 2000);
    const pid_t child = fork();
    if (child == 0) _exit(InThisProcess<Short>(shortage));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    outcome = WEXITSTATUS(status);
    ASSERT_TRUE(outcome == kStarted || outcome == kStartedLater) << outcome;
  }
}

TEST(ColdStart, OneAllocationFails) { EachShortage<ShortMemory>(Shortage::Fails::kOnce); }
TEST(ColdStart, AllFromOneOnFail) { EachShortage<ShortMemory>(Shortage::Fails::kFromThenOn); }
TEST(ColdStart, OneCallOfTheKernelFails) { EachShortage<ShortKernel>(Shortage::Fails::kOnce); }
TEST(ColdStart, AllCallsFromOneOnFail) { EachShortage<ShortKernel>(Shortage::Fails::kFromThenOn); }

}  // namespace
}  // namespace openaclnn::test
