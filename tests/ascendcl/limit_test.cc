// SPDX-License-Identifier: Apache-2.0
// Programs that have little: address space, descriptors, room on the disk; that set devices in a
// storm, and that have the runtime twice. Each is a process of its own.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

constexpr auto kPolicy = ACL_MEM_MALLOC_HUGE_FIRST;

/// Soft limits, which the process may lift again.
bool Limit(__rlimit_resource resource, rlim_t value) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) return false;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  return setrlimit(resource, &limit) == 0;
}

/// From start to end with a gradient between; 0, or the line that is not so.
int Live() {
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  {
    Gradient gradient(0);
    if (gradient.Launch(nullptr) != 0 || aclrtSynchronizeStream(nullptr) != 0) return __LINE__;
    if (gradient.out().Read()[0] != 1.0F) return __LINE__;
  }
  return aclrtResetDevice(0) == 0 && aclFinalize() == 0 ? 0 : __LINE__;
}

class LimitTest : public testing::Test {
 protected:
  LimitTest() {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";  // in a process that has none yet
  }
  /// What the program returns is 0, or the line that is not so.
  template <class Program>
  static void Expect(const Program& program) {
    EXPECT_EXIT(
        {
          alarm(60);  // a hang is a failure
          _exit(program());
        },
        testing::ExitedWithCode(0), "");
  }
};

int LiveWithoutDescriptors() {
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  void* memory = nullptr;
  const Variable trace("OPENACLNN_TRACE", "/tmp/openaclnn_no_descriptor.json");
  const Variable full("OPENACLNN_CHECK", "full");
  if (!Limit(RLIMIT_NOFILE, 0)) return __LINE__;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  if (aclrtMallocPhysical(&memory, 2 << 20, &prop, 0) != ACL_ERROR_RT_MEMORY_ALLOCATION) {
    return __LINE__;
  }
  if (TakeMessage().find(": aclrtMallocPhysical: size value is 2097152, expected") != 6) {
    return __LINE__;
  }
  if (aclrtResetDevice(0) != 0 || aclFinalize() != 0) return __LINE__;
  if (const int line = Live()) return line;
  return Limit(RLIMIT_NOFILE, 256) && Live() == 0 ? 0 : __LINE__;
}

// Logs and traces stay away; what needs a file says so.
TEST_F(LimitTest, NoDescriptors) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers look at memory through descriptors";
#endif
  Expect(LiveWithoutDescriptors);
}

/// What is mapped now.
rlim_t AddressSpace() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// Whether the call succeeds, or fails with a code of shortage and words; then the limit goes.
template <class Call>
bool Tried(Call&& call) {
  const int code = call();
  if (code == 0) return true;
  const bool said = TakeMessage().find(": acl") != std::string::npos;
  const bool is_shortage = code == ACL_ERROR_BAD_ALLOC || code == ACL_ERROR_RT_MEMORY_ALLOCATION ||
                           code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
  return said && is_shortage && Limit(RLIMIT_AS, RLIM_INFINITY) && call() == 0;
}

int LiveInAddresses(rlim_t more) {
  void *stream = nullptr, *small = nullptr, *large = nullptr, *pinned = nullptr;
  if (!Limit(RLIMIT_AS, AddressSpace() + more)) return __LINE__;
  if (!Tried([] { return aclInit(nullptr); })) return __LINE__;
  if (!Tried([] { return aclrtSetDevice(0); })) return __LINE__;
  if (!Tried([&] { return aclrtCreateStream(&stream); })) return __LINE__;
  if (!Tried([&] { return aclrtMalloc(&small, 64, kPolicy); })) return __LINE__;
  if (!Tried([&] { return aclrtMalloc(&large, size_t{256} << 20, kPolicy); })) return __LINE__;
  if (!Tried([&] { return aclrtMallocHost(&pinned, 64); })) return __LINE__;
  if (!Tried([&] { return aclrtMemsetAsync(small, 64, 1, 64, stream); })) return __LINE__;
  if (!Tried([&] { return aclrtSynchronizeStream(stream); })) return __LINE__;
  if (aclrtFree(small) != 0 || aclrtFree(large) != 0 || aclrtFreeHost(pinned) != 0) return __LINE__;
  if (aclrtDestroyStream(stream) != 0 || aclrtResetDevice(0) != 0) return __LINE__;
  return aclFinalize() == 0 && Limit(RLIMIT_AS, RLIM_INFINITY) && Live() == 0 ? 0 : __LINE__;
}

TEST_F(LimitTest, LittleAddressSpace) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve addresses of their own";
#endif
  for (rlim_t more = 0; more <= rlim_t{1} << 30; more = std::max<rlim_t>(2 * more, 256 << 10)) {
    SCOPED_TRACE(more);
    Expect([more] { return LiveInAddresses(more); });
  }
}

/// A report for each of some mistakes, on a disk that takes 500 bytes.
int ReportToFullDisk(const char* file) {
  const Variable json("OPENACLNN_CHECK_JSON", file);
  signal(SIGXFSZ, SIG_DFL);
  if (!Limit(RLIMIT_FSIZE, 500)) return __LINE__;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  for (int i = 0; i < 20; ++i) {
    void* left = nullptr;  // for a report at the end
    if (aclrtMalloc(&left, 64, kPolicy) != 0) return __LINE__;
  }
  if (aclrtResetDevice(0) != 0 || aclFinalize() != 0) return __LINE__;
  return Live();
}

TEST_F(LimitTest, FullDiskOfReports) {
  const std::string file = std::filesystem::temp_directory_path() / "openaclnn_full_disk.json";
  Expect([&] { return ReportToFullDisk(file.c_str()); });
  std::filesystem::remove(file);
}

/// Threads that set, use and reset two devices at once.
int SetDevicesInAStorm() {
  std::atomic<int> wrong{0};
  const Variable two("OPENACLNN_DEVICE_COUNT", "2");
  if (aclInit(nullptr) != 0) return __LINE__;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i, &wrong] {
      for (int round = 0; round < 200; ++round) {
        void *stream = nullptr, *memory = nullptr;
        const int device = (i + round) % 2;
        const bool well = aclrtSetDevice(device) == 0 && aclrtCreateStream(&stream) == 0 &&
                          aclrtMalloc(&memory, 64, kPolicy) == 0 &&
                          aclrtMemsetAsync(memory, 64, i, 64, stream) == 0 &&
                          aclrtSynchronizeStream(stream) == 0 && aclrtFree(memory) == 0 &&
                          aclrtDestroyStream(stream) == 0 && aclrtResetDevice(device) == 0;
        if (!well) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (wrong != 0) return __LINE__;
  return aclrtResetDevice(0) == ACL_ERROR_RT_CONTEXT_NULL && aclFinalize() == 0 ? Live() : __LINE__;
}

TEST_F(LimitTest, StormOfDevices) { Expect(SetDevicesInAStorm); }

/// A second copy of libascendcl.so, under another name.
class SecondRuntime {
 public:
  SecondRuntime() {
    Dl_info info = {};
    if (dladdr(reinterpret_cast<void*>(&aclrtMalloc), &info) == 0) return;
    std::filesystem::copy_file(info.dli_fname, copy_,
                               std::filesystem::copy_options::overwrite_existing);
    library_ = dlopen(copy_.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::filesystem::remove(copy_);
  }
  template <class Function>
  Function* Get(Function* first, const char* name) const {
    auto* function = library_ != nullptr ? dlsym(library_, name) : nullptr;
    return function != reinterpret_cast<void*>(first) ? reinterpret_cast<Function*>(function)
                                                      : nullptr;
  }

 private:
  const std::string copy_ = std::filesystem::temp_directory_path() /
                            ("openaclnn_copy_" + std::to_string(getpid()) + ".so");
  void* library_ = nullptr;
};

int LiveTwice() {
  const SecondRuntime second;
  const auto init = second.Get(&aclInit, "aclInit");
  const auto finalize = second.Get(&aclFinalize, "aclFinalize");
  const auto set_device = second.Get(&aclrtSetDevice, "aclrtSetDevice");
  const auto create = second.Get(&aclrtCreateStream, "aclrtCreateStream");
  const auto malloc_device = second.Get(&aclrtMalloc, "aclrtMalloc");
  const auto memset = second.Get(&aclrtMemsetAsync, "aclrtMemsetAsync");
  const auto synchronize = second.Get(&aclrtSynchronizeStream, "aclrtSynchronizeStream");
  const auto free_device = second.Get(&aclrtFree, "aclrtFree");
  if (init == nullptr || finalize == nullptr || free_device == nullptr) return __LINE__;
  void *ours = nullptr, *theirs = nullptr, *block = nullptr;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  if (init(nullptr) != 0 || set_device(0) != 0) return __LINE__;
  if (aclrtCreateStream(&ours) != 0 || create(&theirs) != 0) return __LINE__;
  if (malloc_device(&block, 64, kPolicy) != 0) return __LINE__;
  if (memset(block, 64, 1, 64, theirs) != 0 || synchronize(theirs) != 0) return __LINE__;
  // What belongs to the other is no memory here, and cannot end there.
  if (aclrtFree(block) != ACL_ERROR_RT_PARAM_INVALID || free_device(block) != 0) return __LINE__;
  if (finalize() != 0) return __LINE__;
  if (aclrtSynchronizeStream(ours) != 0 || aclrtDestroyStream(ours) != 0) return __LINE__;
  return aclrtResetDevice(0) == 0 && aclFinalize() == 0 ? Live() : __LINE__;
}

TEST_F(LimitTest, TwoCopiesOfTheRuntime) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take the second copy's variables for a mistake";
#endif
  Expect(LiveTwice);
}

}  // namespace
}  // namespace openaclnn
