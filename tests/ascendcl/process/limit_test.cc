// SPDX-License-Identifier: Apache-2.0
// Programs that have little: address space, mappings, descriptors, room on the disk; that set
// devices in a storm, and that have the runtime twice. Each is a process of its own.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "tests/ascendcl/gradient.h"
#include "tests/support/address_space.h"

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

/// A name of this process's own.
std::string Temporary(const char* name) {
  return std::filesystem::temp_directory_path() /
         ("openaclnn_" + std::to_string(getpid()) + "_" + name);
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
  const std::string file = Temporary("no_descriptor.json");
  const Variable trace("OPENACLNN_TRACE", file.c_str());
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
  if (!Limit(RLIMIT_NOFILE, 256) || Live() != 0) return __LINE__;
  std::filesystem::remove(file);  // of the life that could have it
  return 0;
}

// Logs and traces stay away; what needs a file says so.
TEST_F(LimitTest, NoDescriptors) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers look at memory through descriptors";
#endif
  Expect(LiveWithoutDescriptors);
}

/// Lets the process have what it was short of.
using Lift = std::function<bool()>;

/// Whether the code is one of shortage, and there are words.
bool IsShortage(int code) {
  const bool said = TakeMessage().find(": acl") != std::string::npos;
  return said && (code == ACL_ERROR_BAD_ALLOC || code == ACL_ERROR_RT_MEMORY_ALLOCATION ||
                  code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
}

/// Whether the call succeeds, or fails for a shortage; then the limit goes.
template <class Call>
bool Tried(const Lift& lift, Call&& call) {
  const int code = call();
  return code == 0 || (IsShortage(code) && lift() && call() == 0);
}

/// A stream that waits for another, whose function of the host has to run first.
int WaitBetweenStreams(const Lift& lift, aclrtStream stream) {
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  std::atomic<bool> ran{false};
  const auto run = [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; };
  if (!Tried(lift, [&] { return aclrtCreateStream(&other); })) return __LINE__;
  if (!Tried(lift, [&] { return aclrtCreateEvent(&event); })) return __LINE__;
  if (!Tried(lift, [&] { return aclrtLaunchHostFunc(other, run, &ran); })) return __LINE__;
  if (!Tried(lift, [&] { return aclrtRecordEvent(event, other); })) return __LINE__;
  if (!Tried(lift, [&] { return aclrtStreamWaitEvent(stream, event); })) return __LINE__;
  if (!Tried(lift, [&] { return aclrtSynchronizeStream(stream); })) return __LINE__;
  // Without a thread for it the function does not run, which is an error of its stream.
  const int code = aclrtSynchronizeStream(other);
  if (code == 0 ? !ran : !IsShortage(code)) return __LINE__;
  return aclrtDestroyEvent(event) == 0 && aclrtDestroyStream(other) == 0 ? 0 : __LINE__;
}

int LiveShort(const Lift& lift) {
  void *stream = nullptr, *small = nullptr, *large = nullptr, *pinned = nullptr;
  const auto tried = [&](auto call) { return Tried(lift, call); };
  if (!tried([] { return aclInit(nullptr); })) return __LINE__;
  if (!tried([] { return aclrtSetDevice(0); })) return __LINE__;
  if (!tried([&] { return aclrtCreateStream(&stream); })) return __LINE__;
  if (!tried([&] { return aclrtMalloc(&small, 64, kPolicy); })) return __LINE__;
  if (!tried([&] { return aclrtMalloc(&large, size_t{256} << 20, kPolicy); })) return __LINE__;
  if (!tried([&] { return aclrtMallocHost(&pinned, 64); })) return __LINE__;
  if (!tried([&] { return aclrtMemsetAsync(small, 64, 1, 64, stream); })) return __LINE__;
  if (!tried([&] { return aclrtSynchronizeStream(stream); })) return __LINE__;
  if (const int line = WaitBetweenStreams(lift, stream)) return line;
  if (aclrtFree(small) != 0 || aclrtFree(large) != 0 || aclrtFreeHost(pinned) != 0) return __LINE__;
  if (aclrtDestroyStream(stream) != 0 || aclrtResetDevice(0) != 0) return __LINE__;
  return aclFinalize() == 0 && lift() && Live() == 0 ? 0 : __LINE__;
}

int LiveInAddresses(rlim_t more) {
  if (!Limit(RLIMIT_AS, test::AddressSpace() + more)) return __LINE__;
  return LiveShort([] { return Limit(RLIMIT_AS, RLIM_INFINITY); });
}

TEST_F(LimitTest, LittleAddressSpace) {
  if (!test::kAddressesAreCounted) GTEST_SKIP() << "sanitizers reserve addresses of their own";
  for (rlim_t more = 0; more <= rlim_t{1} << 30; more = std::max<rlim_t>(2 * more, 256 << 10)) {
    SCOPED_TRACE(more);
    Expect([more] { return LiveInAddresses(more); });
  }
}

int RefusedByLimit() {
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  void* memory = nullptr;
  const size_t bytes = size_t{1} << 30;
  if (!Limit(RLIMIT_AS, (test::AddressSpace() + (rlim_t{1} << 29)) / 1024 * 1024)) return __LINE__;
  if (aclrtMalloc(&memory, bytes, kPolicy) != ACL_ERROR_RT_MEMORY_ALLOCATION) return __LINE__;
  rlimit limit = {};
  getrlimit(RLIMIT_AS, &limit);
  const std::string most = std::to_string(limit.rlim_cur / 1024) + " KiB of addresses (ulimit -v)";
  const std::string words = TakeMessage();
  for (const std::string& each : {std::string("size value is 1073741824, expected no more than"),
                                  most, std::string("`ulimit -v unlimited`")}) {
    if (words.find(each) == std::string::npos) return __LINE__;
  }
  return Limit(RLIMIT_AS, RLIM_INFINITY) && aclFinalize() == 0 ? 0 : __LINE__;
}

// The shell's own name for the limit, its number there, and what lifts it.
TEST_F(LimitTest, TheRefusalNamesTheLimitOfAddresses) {
  if (!test::kAddressesAreCounted) GTEST_SKIP() << "sanitizers reserve addresses of their own";
  Expect(RefusedByLimit);
}

/// As many mappings as the process may have (vm.max_map_count), but for some.
class AllMappings {
 public:
  explicit AllMappings(size_t spare) {
    pages_.reserve(kMost);
    while (pages_.size() < kMost && Add()) {
    }
    for (; spare > 0 && !pages_.empty(); --spare) Drop();
  }
  AllMappings(const AllMappings&) = delete;
  ~AllMappings() { Release(); }

  bool Release() {
    while (!pages_.empty()) Drop();
    return true;
  }

 private:
  // Neighbours of one kind would be one.
  bool Add() {
    void* page = mmap(nullptr, kPage, pages_.size() % 2 == 0 ? PROT_READ : PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (page == MAP_FAILED) return false;
    pages_.push_back(page);
    return true;
  }
  void Drop() {
    munmap(pages_.back(), kPage);
    pages_.pop_back();
  }

  static constexpr size_t kMost = size_t{1} << 21, kPage = 4096;
  std::vector<void*> pages_;
};

// The threads of the runtime need mappings, too.
TEST_F(LimitTest, FewMappings) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need mappings of their own";
#endif
  for (const size_t spare : {0, 4, 8, 16, 32, 64}) {
    SCOPED_TRACE(spare);
    Expect([spare] {
      const Variable full("OPENACLNN_CHECK", "full");
      AllMappings all(spare);
      return LiveShort([&all] { return all.Release(); });
    });
  }
}

/// A report for each of some mistakes, on a disk that takes 500 bytes.
int ReportToFullDisk() {
  const std::string file = Temporary("full_disk.json");
  const Variable json("OPENACLNN_CHECK_JSON", file.c_str());
  signal(SIGXFSZ, SIG_DFL);
  if (!Limit(RLIMIT_FSIZE, 500)) return __LINE__;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  for (int i = 0; i < 20; ++i) {
    void* left = nullptr;  // for a report at the end
    if (aclrtMalloc(&left, 64, kPolicy) != 0) return __LINE__;
  }
  if (aclrtResetDevice(0) != 0 || aclFinalize() != 0) return __LINE__;
  std::filesystem::remove(file);
  return Live();
}

TEST_F(LimitTest, FullDiskOfReports) { Expect(ReportToFullDisk); }

int MakePhysicalInShortFiles() {
  constexpr size_t kBytes = 2 << 20;
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  void* memory = nullptr;
  signal(SIGXFSZ, SIG_DFL);
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return __LINE__;
  if (!Limit(RLIMIT_FSIZE, kBytes - 1)) return __LINE__;
  if (aclrtMallocPhysical(&memory, kBytes, &prop, 0) != ACL_ERROR_RT_MEMORY_ALLOCATION) {
    return __LINE__;
  }
  if (TakeMessage().find("expected no more than the limit of a file's size") == std::string::npos) {
    return __LINE__;
  }
  if (!Limit(RLIMIT_FSIZE, kBytes)) return __LINE__;
  if (aclrtMallocPhysical(&memory, kBytes, &prop, 0) != 0) return __LINE__;
  return aclrtFreePhysical(memory) == 0 && aclrtResetDevice(0) == 0 && aclFinalize() == 0
             ? 0
             : __LINE__;
}

// Physical memory is a file, too.
TEST_F(LimitTest, PhysicalMemoryBeyondTheLimitOfFiles) { Expect(MakePhysicalInShortFiles); }

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
  const std::string copy_ = Temporary("copy.so");
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
