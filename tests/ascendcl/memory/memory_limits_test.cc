// SPDX-License-Identifier: Apache-2.0
// How much memory there may be: of a device, pinned, and of both together.
#include <cstring>
#include <fstream>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

constexpr auto kPolicy = ACL_MEM_MALLOC_HUGE_FIRST;

/// The devices' memory is a share of the machine's; nothing of it is touched.
class MemoryLimitsTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    size_t free = 0;
    ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0);
    large = total / 10 * 6;
  }
  static void ExpectFull(const char* api, const std::function<int()>& call, const char* says) {
    ExpectRefused({api, call, ACL_ERROR_RT_MEMORY_ALLOCATION, says});
  }

  size_t total = 0, large = 0;
  void *first = nullptr, *second = nullptr;

 private:
  Variable none_{"OPENACLNN_DEVICE_MEMORY", nullptr};
  Variable fast_{"OPENACLNN_CHECK", "fast"};  // guarded memory is filled
  Variable guarded_{"OPENACLNN_GUARD_PAGES", nullptr};
};

TEST_F(MemoryLimitsTest, PinnedMemoryIsCounted) {
  ASSERT_EQ(aclrtMallocHost(&first, large), 0) << TakeMessage();
  ExpectFull(
      "aclrtMallocHost", [&] { return aclrtMallocHost(&second, large); },
      "bytes that are free of the host's");
  ASSERT_EQ(aclrtFreeHost(first), 0);
  ASSERT_EQ(aclrtMallocHost(&second, large), 0) << TakeMessage();
  EXPECT_EQ(aclrtFreeHost(second), 0);
}

TEST_F(MemoryLimitsTest, PinnedMemoryIsTheDevicesToo) {
  ASSERT_EQ(aclrtMallocHost(&first, large), 0) << TakeMessage();
  EXPECT_LE(FreeMemory(), total - large);
  ExpectFull(
      "aclrtMalloc", [&] { return aclrtMalloc(&second, large, kPolicy); }, "bytes that are free");
  ASSERT_EQ(aclrtSetDevice(1), 0);
  ExpectFull(
      "aclrtMalloc", [&] { return aclrtMalloc(&second, large, kPolicy); }, "bytes that are free");
  ASSERT_EQ(aclrtResetDevice(1), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtFreeHost(first), 0);
  EXPECT_EQ(FreeMemory(), total);
}

TEST_F(MemoryLimitsTest, ADevicesMemoryIsPinnedMemorysToo) {
  ASSERT_EQ(aclrtMalloc(&first, large, kPolicy), 0) << TakeMessage();
  ExpectFull(
      "aclrtMallocHost", [&] { return aclrtMallocHost(&second, large); },
      "which pinned and device memory share");
  ASSERT_EQ(aclrtSetDevice(1), 0);
  ASSERT_EQ(aclrtMalloc(&second, large, kPolicy), 0) << "devices are as large as before";
  EXPECT_EQ(aclrtFree(second), 0);
  ASSERT_EQ(aclrtResetDevice(1), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtFree(first), 0);
}

// Whoever says that a device has more than the machine is believed; pinned memory stays what it is.
TEST(StatedMemoryTest, IsApart) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the shadow of 512 GiB is 64 GiB";
#endif
  const Variable stated("OPENACLNN_DEVICE_MEMORY", "1T");
  const Variable fast("OPENACLNN_CHECK", "fast"), guarded("OPENACLNN_GUARD_PAGES", nullptr);
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  void *device = nullptr, *pinned = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, size_t{1} << 39, kPolicy), 0) << TakeMessage();
  ASSERT_EQ(aclrtMallocHost(&pinned, size_t{1} << 20), 0) << TakeMessage();
  EXPECT_EQ(aclrtMallocHost(&pinned, size_t{1} << 39), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(aclrtFreeHost(pinned), 0);
  EXPECT_EQ(aclrtFree(device), 0);
  EXPECT_EQ(aclFinalize(), 0);
}

// Freed blocks keep pages for the next one; another's may be all that the machine has left.
TEST(IdleMemoryTest, GoesBackWhereMemoryIsShort) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep pages of their own";
#endif
  constexpr size_t kBlock = size_t{1} << 20, kBlocks = 96;
  const Variable fast("OPENACLNN_CHECK", "fast"), guarded("OPENACLNN_GUARD_PAGES", nullptr);
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0);
  const auto resident = [] {
    std::ifstream pages("/proc/self/statm");
    size_t size = 0, in_memory = 0;
    pages >> size >> in_memory;
    return in_memory * 4096;
  };
  const size_t before = resident();
  std::vector<void*> blocks(kBlocks);
  for (void*& block : blocks) {
    ASSERT_EQ(aclrtMalloc(&block, kBlock, kPolicy), 0);
    ASSERT_EQ(aclrtMemset(block, kBlock, 1, kBlock), 0);
  }
  for (void* block : blocks) ASSERT_EQ(aclrtFree(block), 0);
  EXPECT_GT(resident(), before + kBlock * kBlocks / 2) << "kept for the next one";
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, free - kBlock), 0) << TakeMessage();
  EXPECT_LT(resident(), before + kBlock * kBlocks / 4);
  EXPECT_EQ(aclrtFreeHost(pinned), 0);
  EXPECT_EQ(aclFinalize(), 0);
}

// Programs round addresses of pinned memory up to a page, and use as much as they have asked for.
TEST(PinnedPagesTest, BeginAtPages) {
  for (const char* check : {"off", "fast", "full"}) {
    const Variable variable("OPENACLNN_CHECK", check);
    ASSERT_EQ(aclInit(nullptr), 0);
    std::vector<void*> pinned;
    for (const size_t bytes : {1, 64, 512, 4096, 4097, 100'000, 3}) {
      ASSERT_EQ(aclrtMallocHost(&pinned.emplace_back(), bytes), 0) << TakeMessage();
      EXPECT_EQ(reinterpret_cast<uintptr_t>(pinned.back()) % 4096, 0U) << check << ' ' << bytes;
      std::memset(pinned.back(), 1, bytes);
    }
    for (void* each : pinned) EXPECT_EQ(aclrtFreeHost(each), 0);
    EXPECT_EQ(aclFinalize(), 0);
  }
}

}  // namespace
}  // namespace openaclnn
