// SPDX-License-Identifier: Apache-2.0
// Who may touch device memory: the host may not, unless asked; nobody beyond a guarded block.
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

/// Whether this process can read the byte; asks the kernel, so that a fault is no crash.
bool Readable(const void* address) {
  char byte = 0;
  const iovec local = {&byte, 1}, remote = {const_cast<void*>(address), 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

class ProtectionTest : public testing::Test {
 protected:
  static void Start() {
    ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
    ASSERT_EQ(aclrtSetDevice(0), 0);
  }
  static void End() {
    EXPECT_EQ(aclrtResetDevice(0), 0);
    EXPECT_EQ(aclFinalize(), 0);
  }
  static void RunGradient() {
    Gradient gradient(1);
    ASSERT_EQ(gradient.Launch(nullptr), 0) << TakeMessage();
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0) << TakeMessage();
    EXPECT_EQ(gradient.out().Read(), (std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4}));
  }
};

TEST_F(ProtectionTest, TheHostMayNotTouchDeviceMemory) {
  Start();
  for (const size_t size : {size_t{1}, size_t{5000}, size_t{100} << 20}) {
    char* address = nullptr;
    ASSERT_EQ(aclrtMalloc(reinterpret_cast<void**>(&address), size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_FALSE(Readable(address));
    EXPECT_FALSE(Readable(address + size - 1));
    ASSERT_EQ(aclrtMemset(address, size, 1, size), 0);
    EXPECT_FALSE(Readable(address)) << "after its first use";
    ASSERT_EQ(aclrtFree(address), 0);
  }
  RunGradient();
  PinnedBytes pinned(64);
  EXPECT_TRUE(Readable(pinned.data()));
  End();
}

TEST_F(ProtectionTest, HostAccessCanBeAskedFor) {
  const Variable access("OPENACLNN_HOST_ACCESS", "1");
  Start();
  {
    DeviceArray<uint8_t> bytes(64, 42);
    ASSERT_TRUE(Readable(bytes.data()));
    EXPECT_EQ(bytes.data()[63], 42);
    bytes.data()[0] = 1;
    EXPECT_EQ(bytes.Read()[0], 1);
  }
  RunGradient();
  End();
}

// With both, the guard page can be seen through the device address.
TEST_F(ProtectionTest, GuardPageEndsEachAllocation) {
  const Variable guard("OPENACLNN_GUARD_PAGES", "1"), access("OPENACLNN_HOST_ACCESS", "1");
  Start();
  for (const size_t size : {1, 63, 64, 100, 4095, 4096, 4097, 100'000}) {
    uint8_t* address = nullptr;
    ASSERT_EQ(aclrtMalloc(reinterpret_cast<void**>(&address), size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 64, 0u);
    EXPECT_TRUE(Readable(address + size - 1));
    const size_t to_page = (4096 - reinterpret_cast<uintptr_t>(address + size) % 4096) % 4096;
    EXPECT_LT(to_page, 64u) << "bytes between the block and the page";
    EXPECT_FALSE(Readable(address + size + to_page)) << size;
    float first = 0;
    if (size >= sizeof(first)) {
      std::memcpy(&first, address, sizeof(first));
      EXPECT_NE(first, first) << "what was never written is NaN";
    }
    ASSERT_EQ(aclrtFree(address), 0);
    EXPECT_FALSE(Readable(address)) << "after its end";
  }
  RunGradient();
  End();
}

TEST_F(ProtectionTest, GuardPagesWithoutHostAccess) {
  const Variable guard("OPENACLNN_GUARD_PAGES", "1");
  Start();
  {
    DeviceArray<uint8_t> bytes(100, 1);
    EXPECT_FALSE(Readable(bytes.data()));
  }
  RunGradient();
  End();
}

TEST(HandleTest, HandlesAreNumbersThatPointNowhere) {
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  ASSERT_EQ(aclrtCreateEvent(&event), 0);
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  const float value = 1;
  aclScalar* scalar = aclCreateScalar(const_cast<float*>(&value), ACL_FLOAT);
  for (const void* handle : {stream, event, context, static_cast<void*>(scalar)}) {
    EXPECT_FALSE(Readable(handle));
  }
  EXPECT_EQ(aclDestroyScalar(scalar), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclFinalize(), 0);
}

}  // namespace
}  // namespace openaclnn
