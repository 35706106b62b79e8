// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK=full: nobody is helped by what new memory or a workspace happens to hold.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/ascendcl/own_operator.h"

namespace openaclnn {
namespace {

class FillTest : public RuntimeTest {
 protected:
  static bool IsFilled(const uint8_t* bytes, size_t count) {
    return std::all_of(bytes, bytes + count, [](uint8_t byte) { return byte == 0xFF; });
  }
  static bool IsFilled(const void* device, size_t count) {
    std::vector<uint8_t> bytes(count);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), count, device, count, ACL_MEMCPY_DEVICE_TO_HOST), 0)
        << TakeMessage();
    return IsFilled(bytes.data(), count);
  }

 private:
  Variable fast_{"OPENACLNN_CHECK", "fast"};
};

class FullFillTest : public FillTest {
 private:
  Variable full_{"OPENACLNN_CHECK", "full"};
};

/// How often, of three calls that write it, a workspace is filled when a task begins.
int CountFilled() {
  constexpr uint64_t kBytes = 1000;
  DeviceArray<uint8_t> workspace(kBytes + 1, 7);
  int runs = 0, filled = 0;
  const auto note = [&](void* const*, void* given) {
    const auto* bytes = static_cast<const uint8_t*>(given);
    ++runs;
    filled += std::count(bytes, bytes + kBytes, 0xFF) == kBytes ? 1 : 0;
    std::memset(given, 0, kBytes);
    return 0;
  };
  OwnOperator own(note, kBytes);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(own.Launch(nullptr, workspace.data()), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(workspace.Read().back(), 7) << "what lies behind it is the client's";
  return filled;
}

TEST_F(FullFillTest, WorkspacesOfEveryCall) { EXPECT_EQ(CountFilled(), 3); }
TEST_F(FillTest, WorkspacesAreLeftAloneOtherwise) { EXPECT_EQ(CountFilled(), 0); }

TEST_F(FullFillTest, NewMemory) {
  for (const size_t bytes : {size_t{1}, size_t{400}, size_t{100'000}}) {
    void *device = nullptr, *host = nullptr;
    ASSERT_EQ(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_TRUE(IsFilled(device, bytes)) << bytes;
    EXPECT_EQ(aclrtFree(device), 0);
    ASSERT_EQ(aclrtMallocHost(&host, bytes), 0);
    EXPECT_TRUE(IsFilled(static_cast<const uint8_t*>(host), bytes)) << bytes;
    EXPECT_EQ(aclrtFreeHost(host), 0);
  }
}

using Clock = std::chrono::steady_clock;

/// How many calls that look at memory end in the middle half of the time in which another thread
/// allocates.
size_t CallsDuringAnAllocation(const void* known, size_t bytes) {
  std::atomic<bool> over{false};
  Clock::time_point begin, end;
  void* large = nullptr;
  std::thread filler([&] {
    EXPECT_EQ(aclrtSetDevice(0), 0);
    begin = Clock::now();
    EXPECT_EQ(aclrtMalloc(&large, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    end = Clock::now();
    over = true;
  });
  std::vector<Clock::time_point> calls;
  for (aclrtPtrAttributes attributes; !over && calls.size() < 10'000'000;) {
    EXPECT_EQ(aclrtPointerGetAttributes(known, &attributes), 0);
    calls.push_back(Clock::now());
  }
  filler.join();
  EXPECT_EQ(aclrtFree(large), 0);
  const auto quarter = (end - begin) / 4;
  return static_cast<size_t>(std::count_if(calls.begin(), calls.end(), [&](auto at) {
    return at > begin + quarter && at < end - quarter;
  }));
}

// A large block takes a while, in which others go on.
TEST_F(FullFillTest, NobodyWaitsForIt) {
  constexpr size_t kLarge = size_t{128} << 20;
  const DeviceArray<uint8_t> known(100);
  size_t most = 0;
  // The machine may have no time for this thread.
  for (int attempt = 0; attempt < 5 && most < 100; ++attempt) {
    most = std::max(most, CallsDuringAnAllocation(known.data(), kLarge));
  }
  EXPECT_GE(most, 100U);
}

// Pinned memory outlives aclFinalize; what comes after it is checked as the new life says.
TEST_F(FillTest, BesideMemoryOfALifeWithout) {
  PinnedBytes old(400);
  std::memset(old.data(), 1, 400);
  for (const char* level : {"full", "fast", "full"}) {
    TearDown();
    const Variable check("OPENACLNN_CHECK", level);
    SetUp();
    PinnedBytes fresh(400);
    EXPECT_EQ(IsFilled(fresh.data(), 400), std::string(level) == "full");
    std::memset(fresh.data(), 2, 400);
    EXPECT_EQ(old.data()[399], 1);
    aclrtPtrAttributes attributes;
    EXPECT_EQ(aclrtPointerGetAttributes(old.data() + 399, &attributes), 0);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  }
}

TEST_F(FullFillTest, NewPhysicalMemory) {
  constexpr size_t kPiece = size_t{2} << 20;
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle memory = nullptr;
  void* range = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&memory, kPiece, &prop, 0), 0) << TakeMessage();
  ASSERT_EQ(aclrtReserveMemAddress(&range, kPiece, 0, nullptr, 1), 0);
  ASSERT_EQ(aclrtMapMem(range, kPiece, 0, memory, 0), 0);
  EXPECT_TRUE(IsFilled(range, kPiece));
  ASSERT_EQ(aclrtUnmapMem(range), 0);
  ASSERT_EQ(aclrtFreePhysical(memory), 0);
  ASSERT_EQ(aclrtReleaseMemAddress(range), 0);
}

}  // namespace
}  // namespace openaclnn
