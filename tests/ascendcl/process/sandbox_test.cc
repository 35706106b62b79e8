// SPDX-License-Identifier: Apache-2.0
// Programs to which a sandbox refuses calls of the kernel: they are told which one. Each is a
// process of its own.
#include "tests/support/sandbox.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

constexpr int kNoSandbox = 77;  // the kernel has none to give

class SandboxTest : public testing::Test {
 protected:
  SandboxTest() {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";  // in a process that has none yet
  }
  /// Whether the program ended with 0, or there is no sandbox; else with the line that is not so.
  static bool Ended(int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kNoSandbox);
  }
};

size_t TotalMemory() {
  size_t free = 0, total = 0;
  return aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == 0 ? total : 0;
}

/// The files say how much memory there is where the kernel does not.
int StartWithoutSysinfo() {
  const Variable none("OPENACLNN_DEVICE_MEMORY", nullptr);
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  const size_t total = TotalMemory();
  if (total == 0 || aclFinalize() != 0) return __LINE__;
  if (!test::RefuseCalls({SYS_sysinfo})) return kNoSandbox;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  return TotalMemory() / (1 << 20) == total / (1 << 20) && aclFinalize() == 0 ? 0 : __LINE__;
}

TEST_F(SandboxTest, WithoutSysinfo) { EXPECT_EXIT(_exit(StartWithoutSysinfo()), Ended, ""); }

int StartBlind() {
  const Variable none("OPENACLNN_DEVICE_MEMORY", nullptr);
  if (!test::RefuseCalls({SYS_sysinfo, SYS_openat})) return kNoSandbox;
  if (aclInit(nullptr) == 0) return __LINE__;
  const std::string words = TakeMessage();
  if (words.find("memory of this machine is unknown: sysinfo fails (Operation not permitted)") ==
      std::string::npos) {
    return __LINE__;
  }
  if (words.find("OPENACLNN_DEVICE_MEMORY") == std::string::npos) return __LINE__;
  const Variable given("OPENACLNN_DEVICE_MEMORY", "1G");
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  void* pinned = nullptr;
  if (aclrtMallocHost(&pinned, 64) != 0 || aclrtFreeHost(pinned) != 0) return __LINE__;
  return TotalMemory() == size_t{1} << 30 && aclFinalize() == 0 ? 0 : __LINE__;
}

TEST_F(SandboxTest, WithoutSysinfoAndFiles) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers open files";
#endif
  EXPECT_EXIT(_exit(StartBlind()), Ended, "");
}

int MakePhysicalMemory() {
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  if (!test::RefuseCalls({SYS_memfd_create})) return kNoSandbox;
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle handle = nullptr;
  if (aclrtMallocPhysical(&handle, 2 << 20, &prop, 0) != ACL_ERROR_RT_MEMORY_ALLOCATION) {
    return __LINE__;
  }
  const std::string words = TakeMessage();
  return words.find("memfd_create fails (Operation not permitted), expected a system that") !=
                 std::string::npos
             ? 0
             : __LINE__;
}

TEST_F(SandboxTest, WithoutFilesThatAreMemory) {
  EXPECT_EXIT(_exit(MakePhysicalMemory()), Ended, "");
}

}  // namespace
}  // namespace openaclnn
