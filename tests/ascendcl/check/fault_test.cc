// SPDX-License-Identifier: Apache-2.0
// What a program is told that uses device memory as if it were the host's. Each test is a process
// of its own, which ends.
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/ascendcl/died.h"
#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

using testing::ExitedWithCode;

volatile char* Allocate(size_t bytes) {
  void* address = nullptr;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 ||
      aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
    _exit(99);
  }
  return static_cast<char*>(address);
}

/// A handler of the client, which tells that it ran.
void EndWith7(int) { _exit(7); }
void EndWith8(int, siginfo_t* info, void*) { _exit(info->si_addr != nullptr ? 8 : 9); }

class FaultTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const char* level = std::getenv("OPENACLNN_CHECK");
    if (level != nullptr && std::string(level) == "off") {
      GTEST_SKIP() << "OPENACLNN_CHECK=off: what the host touches is not watched";
    }
  }
};

TEST_F(FaultTest, NamesTheAllocation) {
  EXPECT_EXIT(
      Allocate(400)[16] = 1, Died,
      "openaclnn: memcheck: the host (writes|reads or writes) device memory at 0x[0-9a-f]+\n"
      "  where: byte 16 of the 400 that were allocated at 0x[0-9a-f]+ on device 0 by aclrtMalloc\n"
      "(         from .*\n)*  fix:   copy it with aclrtMemcpy");
  EXPECT_EXIT((void)Allocate(400)[0], Died, "the host reads (or writes )?device memory");
}

TEST_F(FaultTest, AlsoWithoutInit) {
  EXPECT_EXIT(
      {
        void* address = nullptr;
        if (aclrtSetDevice(0) != 0) _exit(99);
        if (aclrtMalloc(&address, 400, ACL_MEM_MALLOC_HUGE_FIRST) != 0) _exit(99);
        static_cast<volatile char*>(address)[16] = 1;
      },
      Died, "byte 16 of the 400");
}

TEST_F(FaultTest, NamesReservedAndFreedMemory) {
  EXPECT_EXIT(
      {
        volatile char* bytes = Allocate(400);
        if (aclrtFree(const_cast<char*>(bytes)) != 0) _exit(99);
        bytes[0] = 1;
      },
      Died,
      "where: byte 0 of the 400 that were allocated at 0x[0-9a-f]+ on device 0 by aclrtMalloc and "
      "that aclrtFree has freed");
  EXPECT_EXIT(Allocate(400)[5000] = 1, Died,
              "where: byte 5000, behind the 400 that were allocated");
  EXPECT_EXIT(
      Allocate(400)[100'000] = 1, Died,
      "where: 1 byte at 0x[0-9a-f]+: no allocation is there now; it was freed, or was never "
      "made");
  EXPECT_EXIT(
      {
        Allocate(1);
        void* range = nullptr;
        if (aclrtReserveMemAddress(&range, 2 << 20, 0, nullptr, 0) != 0) _exit(99);
        static_cast<volatile char*>(range)[5] = 1;
      },
      Died, "where: byte 5 of the 2097152 that were reserved at");
}

TEST_F(FaultTest, TheClientsHandlerRunsAfterwards) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, EndWith7);
        Allocate(400)[16] = 1;
      },
      ExitedWithCode(7), "byte 16 of the 400");
  EXPECT_EXIT(
      {
        struct sigaction with_info = {};
        with_info.sa_sigaction = EndWith8;
        with_info.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &with_info, nullptr);
        Allocate(400)[16] = 1;
      },
      ExitedWithCode(8), "byte 16 of the 400");
  EXPECT_EXIT(
      {
        volatile char* bytes = Allocate(400);
        signal(SIGSEGV, EndWith7);  // instead of ours
        bytes[16] = 1;
      },
      ExitedWithCode(7), "^$");
}

void SetHandler(int flags, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGSEGV, &action, nullptr);
}

sigjmp_buf g_probe;
[[maybe_unused]] void EndProbe(int) { siglongjmp(g_probe, 1); }

TEST_F(FaultTest, TheClientsHandlerKeepsItsFlags) {
  EXPECT_EXIT(
      {
        alarm(20);  // a handler that returns would be called for ever
        SetHandler(static_cast<int>(SA_RESETHAND), [](int) {});
        Allocate(400)[16] = 1;
      },
      Died, "byte 16 of the 400");
#if !defined(__SANITIZE_THREAD__)  // which blocks all signals while a handler runs
  EXPECT_EXIT(
      {
        SetHandler(SA_NODEFER, EndProbe);
        volatile char* bytes = Allocate(400);
        static int i = 0;
        for (; i < 3; ++i) {
          if (sigsetjmp(g_probe, /*savemask=*/0) == 0) bytes[i] = 1;
        }
        _exit(4);
      },
      ExitedWithCode(4), "byte 2 of the 400");
#endif
}

TEST_F(FaultTest, AHundredAreTold) {
  EXPECT_EXIT(
      {
        SetHandler(SA_NODEFER, EndProbe);
        volatile char* bytes = Allocate(400);
        static int i = 0;
        for (; i < 111; ++i) {
          if (sigsetjmp(g_probe, /*savemask=*/1) == 0) bytes[i] = 1;
        }
        _exit(aclrtResetDevice(0) == 0 && aclFinalize() == 0 ? 4 : 5);
      },
      ExitedWithCode(4), "openaclnn: 111 errors found \\(memcheck 111\\), 100 reported ");
}

TEST_F(FaultTest, NobodyNeedsToReadTheReport) {
  EXPECT_EXIT(
      {
        int ends[2];
        if (pipe(ends) != 0 || close(ends[0]) != 0 || dup2(ends[1], STDERR_FILENO) < 0) _exit(99);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGSEGV, EndWith7);
        Allocate(400)[16] = 1;
      },
      ExitedWithCode(7), "");
}

TEST_F(FaultTest, OtherFaultsAreTheClients) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, EndWith7);
        Allocate(400);
        raise(SIGSEGV);
      },
      ExitedWithCode(7), "^$");
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_IGN);
        Allocate(400);
        raise(SIGSEGV);
        _exit(3);
      },
      ExitedWithCode(3), "^$");
  EXPECT_EXIT(
      {
        Allocate(400);
        raise(SIGSEGV);
        _exit(3);  // not come by
      },
      Died, "");
}

TEST_F(FaultTest, EndsWithTheLibraryOrIsNotWanted) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, EndWith7);
        volatile char* bytes = Allocate(400);
        struct sigaction now = {};
        if (aclFinalize() != 0 || sigaction(SIGSEGV, nullptr, &now) != 0) _exit(99);
        if (now.sa_handler != EndWith7) _exit(98);
        bytes[16] = 1;
      },
      ExitedWithCode(7), "^$");
  EXPECT_EXIT(
      {
        setenv("OPENACLNN_CHECK", "off", 1);
        signal(SIGSEGV, EndWith7);
        Allocate(400)[16] = 1;
      },
      ExitedWithCode(7), "^$");
}

TEST_F(FaultTest, IsSetAgainInASecondLife) {
  EXPECT_EXIT(
      {
        Allocate(400);
        if (aclFinalize() != 0) _exit(99);
        Allocate(300)[16] = 1;
      },
      Died, "byte 16 of the 300");
}

// With a handler of the client's above ours, a second life must not put ours above that: each would
// call the other.
TEST_F(FaultTest, IsSetOnceBelowAHandlerThatCallsIt) {
  EXPECT_EXIT(
      {
        SetHandler(0, [](int) {});
        Allocate(400);
        static struct sigaction below;
        struct sigaction above = {};
        above.sa_sigaction = [](int number, siginfo_t* info, void* context) {
          static int calls = 0;
          if (++calls > 1) _exit(98);
          below.sa_sigaction(number, info, context);
          _exit(5);
        };
        above.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &above, &below);
        if (aclFinalize() != 0) _exit(99);
        Allocate(300)[16] = 1;
      },
      ExitedWithCode(5), "byte 16 of the 300");
}

}  // namespace
}  // namespace openaclnn
