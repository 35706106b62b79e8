// SPDX-License-Identifier: Apache-2.0
// Products of BFLOAT16 in processes that get no tile registers, or that end and interrupt threads
// which use them: the bits are those of other instruction sets. Each is a process of its own, since
// a process asks for the registers once. Without such registers the same is true of other products.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "aclnnop/aclnn_matmul.h"
#include "tests/support/bits.h"
#include "tests/support/call.h"
#include "tests/support/cases.h"
#include "tests/support/numbers.h"
#include "tests/support/sandbox.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

using Bytes = std::vector<std::byte>;

DeviceTensor Normal(const Dims& dims, uint64_t seed) {
  Random random(seed);
  DeviceTensor tensor(ACL_BF16, DenseLayout(dims));
  tensor.Write(ToBytes(ACL_BF16, RandomValues(random, tensor.layout().count(), kNormal)));
  return tensor;
}

/// A product of 200 x 1,500 by 1,500 x 150; nothing where it fails.
Bytes Multiply(const Device& device) {
  const DeviceTensor a = Normal({200, 1500}, 1), b = Normal({1500, 150}, 2);
  const DeviceTensor out(ACL_BF16, DenseLayout({200, 150}));
  const Planned planned = Planned::Plan([&](auto... outputs) {
    return aclnnMatmulGetWorkspaceSize(a.handle(), b.handle(), const_cast<aclTensor*>(out.handle()),
                                       0, outputs...);
  });
  if (!planned.outcome().ok() || !Execute(device, planned, aclnnMatmul).ok()) return {};
  return out.Read();
}

/// The same by FMAs, or by what the build has.
Bytes MultiplyByFmas() {
  std::unique_ptr<Device> device;
  try {
    device = std::make_unique<Device>(std::vector<Variable>{{"OPENACLNN_SIMD", "avx2"}});
  } catch (const std::runtime_error&) {
    device = std::make_unique<Device>();
  }
  return Multiply(*device);
}

class TileRegistersTest : public testing::Test {
 protected:
  TileRegistersTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }

  /// A new process prepares itself and multiplies.
  static void Expect(const std::function<bool()>& prepare) {
    EXPECT_EXIT(_exit(SameBitsAfter(prepare) ? 0 : 1), testing::ExitedWithCode(0), "");
  }

 private:
  static bool SameBitsAfter(const std::function<bool()>& prepare) {
    if (!prepare()) return false;
    const Bytes got = Multiply(Device());
    return !got.empty() && got == MultiplyByFmas();
  }
};

TEST_F(TileRegistersTest, WhereTheyAreGiven) {
  Expect([] { return true; });
}

TEST_F(TileRegistersTest, WhereASandboxRefusesTheRequest) {
#if defined(SYS_arch_prctl)
  Expect([] { return RefuseCalls({SYS_arch_prctl}); });
#endif
}

/// An alternate signal stack of this thread.
bool SetSignalStack(size_t bytes) {
  static std::vector<std::byte> memory;
  memory.resize(bytes);
  const stack_t stack = {memory.data(), 0, bytes};
  return sigaltstack(&stack, nullptr) == 0;
}

// Linux refuses the registers to a process with a thread whose signal stack could not hold them.
TEST_F(TileRegistersTest, WhereASignalStackIsTooSmall) {
  Expect([] { return SetSignalStack(4096); });
}

TEST_F(TileRegistersTest, InThreadsThatEnd) {
  Expect([] {
    const Device device;
    const Bytes wanted = Multiply(device);
    bool same = true;
    aclrtContext context = nullptr;
    if (aclrtGetCurrentContext(&context) != 0) return false;
    for (int i = 0; i < 50; ++i) {
      std::thread([&] {
        same = aclrtSetCurrentContext(context) == 0 && Multiply(device) == wanted && same;
      }).join();
    }
    return same;
  });
}

std::atomic<int> g_signals{0};

TEST_F(TileRegistersTest, WhileSignalsInterrupt) {
  Expect([] {
    if (!SetSignalStack(getauxval(AT_MINSIGSTKSZ) + 16384)) return false;
    struct sigaction action = {};
    action.sa_handler = [](int) { ++g_signals; };
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    const itimerval often = {{0, 500}, {0, 500}}, never = {};
    if (sigaction(SIGALRM, &action, nullptr) != 0) return false;
    const Device device;
    const Bytes wanted = Multiply(device);
    if (setitimer(ITIMER_REAL, &often, nullptr) != 0) return false;
    bool same = true;
    for (int i = 0; i < 40 || g_signals < 20; ++i) same = same && Multiply(device) == wanted;
    return same && setitimer(ITIMER_REAL, &never, nullptr) == 0;
  });
}

}  // namespace
}  // namespace openaclnn::test
