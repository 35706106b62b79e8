// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK=full: who leaves an allocation, or uses what was freed, is stopped and told. Each
// test is a process of its own, which ends.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "ascendcl/memory/canary.h"
#include "tests/ascendcl/died.h"
#include "tests/ascendcl/memory/overrun.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// They wait for whoever opens a file: not in a handler of signals.
#pragma GCC visibility push(default)
extern "C" int dladdr(const void*, Dl_info*) noexcept { _exit(98); }
extern "C" int dladdr1(const void*, Dl_info*, void**, int) noexcept { _exit(98); }
#pragma GCC visibility pop
#endif

namespace openaclnn {
namespace {

void Start() {
  setenv("OPENACLNN_CHECK", "full", 1);
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) _exit(99);
}

void* Allocate(size_t bytes) {
  Start();
  void* address = nullptr;
  if (aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0) _exit(99);
  return address;
}

volatile char* AllocateHost(size_t bytes) {
  Start();
  void* address = nullptr;
  if (aclrtMallocHost(&address, bytes) != 0) _exit(99);
  return static_cast<char*>(address);
}

void FreeHost(volatile char* address) {
  if (aclrtFreeHost(const_cast<char*>(address)) != 0) _exit(99);
}

class GuardTest : public testing::Test {
 protected:
  void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

/// Behind a report's place, and what may say who allocated: what would mend it.
const std::string kFixSize =
    "\n(         from .*\n)*  fix:   look for a size, a stride or an index";
const std::string kFixFree =
    "\n(         from .*\n)*  fix:   free memory when nothing uses it any more";

[[noreturn]] void WriteBeside(std::ptrdiff_t at) {
  Overrun overrun(at, 1);
  overrun.Launch(Allocate(400), 400, nullptr);
  (void)aclrtSynchronizeStream(nullptr);
  _exit(3);  // not come by
}

TEST_F(GuardTest, StopsATaskBesideItsMemory) {
  EXPECT_EXIT(WriteBeside(450), Died,
              "sumOfMine (writes|reads or writes) beside device memory at 0x[0-9a-f]+\n"
              "  where: byte 450, behind the 400 that were allocated at 0x[0-9a-f]+ on device 0 by "
              "aclrtMalloc" +
                  kFixSize);
  EXPECT_EXIT(WriteBeside(-4000), Died,
              "where: byte -4000, before the 400 that were allocated at 0x[0-9a-f]+ on device 0");
}

[[noreturn]] void WriteFreed() {
  void* memory = Allocate(400);
  Overrun overrun(5, 1);
  overrun.Launch(memory, 400, nullptr);
  if (aclrtSynchronizeStream(nullptr) != 0 || aclrtFree(memory) != 0) _exit(99);
  void* const kept = overrun.pin.host;
  void* next = nullptr;
  if (aclrtMalloc(&next, 400, ACL_MEM_MALLOC_HUGE_FIRST) != 0) _exit(99);
  overrun.Launch(next, 400, nullptr, kept);
  (void)aclrtSynchronizeStream(nullptr);
  _exit(3);  // not come by
}

TEST_F(GuardTest, StopsATaskThatUsesFreedMemory) {
  EXPECT_EXIT(WriteFreed(), Died,
              "sumOfMine (writes|reads or writes) freed device memory at 0x[0-9a-f]+\n"
              "  what:  the last task that used the allocation is sumOfMine\n"
              "  where: byte 5 of the 400 that were allocated at 0x[0-9a-f]+ on device 0 by "
              "aclrtMalloc and that aclrtFree has freed" +
                  kFixFree);
}

TEST_F(GuardTest, NamesWhoAllocated) {
  EXPECT_EXIT(*static_cast<volatile char*>(Allocate(400)) = 1, Died,
              "  where: byte 0 of the 400 that were allocated at 0x[0-9a-f]+ on device 0 by "
              "aclrtMalloc\n         from .*\\+0x[0-9a-f]+");
}

TEST_F(GuardTest, StopsTheHostAtPinnedMemory) {
  EXPECT_EXIT(
      AllocateHost(400)[4100] = 1, Died,
      "the host (writes|reads or writes) beside pinned memory at 0x[0-9a-f]+\n"
      "  where: byte 4100, behind the 400 that were allocated at 0x[0-9a-f]+ in pinned host "
      "memory by aclrtMallocHost" +
          kFixSize);
  EXPECT_EXIT(AllocateHost(8192)[8192] = 1, Died, "  where: byte 8192, behind the 8192 that");
  EXPECT_EXIT(AllocateHost(400)[-1] = 1, Died, "  where: byte -1, before the 400 that");
  EXPECT_EXIT(
      {
        volatile char* pinned = AllocateHost(400);
        FreeHost(pinned);
        (void)pinned[7];
      },
      Died,
      "the host reads (or writes )?freed pinned memory at 0x[0-9a-f]+\n"
      "  where: byte 7 of the 400 that were allocated at 0x[0-9a-f]+ in pinned host memory by "
      "aclrtMallocHost and that aclrtFreeHost has freed" +
          kFixFree);
}

/// With a handler of the program's, which tells that it ran.
[[noreturn]] void WriteProtected(size_t at) {
  constexpr uintptr_t kPage = 4096;
  signal(SIGSEGV, [](int) { _exit(7); });
  volatile char* const pinned = AllocateHost(400);
  const uintptr_t page = reinterpret_cast<uintptr_t>(pinned + at) / kPage * kPage;
  if (mprotect(reinterpret_cast<void*>(page), kPage, PROT_NONE) != 0) _exit(99);
  pinned[at] = 1;
  _exit(3);  // not come by
}

TEST_F(GuardTest, WhatTheHostDoesInItsPinnedMemoryIsItsOwn) {
  for (const size_t inside : {0, 1, 399}) {
    EXPECT_EXIT(WriteProtected(inside), testing::ExitedWithCode(7), "^$") << inside;
  }
  if (!kHaveCanaries) GTEST_SKIP() << "AddressSanitizer stops who writes beside an allocation";
  EXPECT_EXIT(WriteProtected(400), testing::ExitedWithCode(7), "byte 400, behind the 400 ");
}

}  // namespace
}  // namespace openaclnn
