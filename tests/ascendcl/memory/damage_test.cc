// SPDX-License-Identifier: Apache-2.0
// Canaries: who writes beside an allocation is told which one, and when it was seen.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "ascendcl/memory/canary.h"
#include "common/text.h"
#include "tests/ascendcl/memory/overrun.h"

namespace openaclnn {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr size_t kBytes = 400;

class DamageTest : public RuntimeTest {
 protected:
  void SetUp() override {
    if (!kHaveCanaries) GTEST_SKIP() << "AddressSanitizer stops who writes beside an allocation";
    testing::internal::CaptureStderr();
    RuntimeTest::SetUp();
    started_ = true;
  }
  void TearDown() override { Reported(); }

  /// Ends the runtime, and returns what was said meanwhile.
  std::string Reported() {
    if (!started_) return text_;
    started_ = false;
    RuntimeTest::TearDown();
    return text_ = testing::internal::GetCapturedStderr();
  }
  /// What was said until now.
  static std::string Said() {
    std::string text = testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    return text;
  }

 private:
  Variable fast_{"OPENACLNN_CHECK", "fast"};
  bool started_ = false;
  std::string text_;
};

/// Of this process, in memory.
size_t ResidentBytes() {
  std::ifstream pages("/proc/self/statm");
  size_t size = 0, resident = 0;
  pages >> size >> resident;
  return resident * 4096;
}

TEST_F(DamageTest, MemoryThatNobodyTouchesTakesNone) {
  constexpr size_t kBlocks = 64, kBlock = size_t{2} << 20;
  const size_t before = ResidentBytes();
  void* device[kBlocks] = {};
  void* pinned[kBlocks] = {};
  for (size_t i = 0; i < kBlocks; ++i) {
    ASSERT_EQ(aclrtMalloc(&device[i], kBlock, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    ASSERT_EQ(aclrtMallocHost(&pinned[i], kBlock), 0);
  }
  EXPECT_LT(ResidentBytes(), before + kBlocks * kBlock / 8);
  for (size_t i = 0; i < kBlocks; ++i) {
    EXPECT_EQ(aclrtFree(device[i]), 0);
    EXPECT_EQ(aclrtFreeHost(pinned[i]), 0);
  }
  EXPECT_EQ(Reported(), "") << "there is no canary to be damaged";
}

TEST_F(DamageTest, LargePinnedMemoryGoesBackWhenItIsFreed) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer keeps pages of its own for it";
#endif
  constexpr size_t kLarge = size_t{32} << 20;
  const size_t before = ResidentBytes();
  {
    std::vector<std::unique_ptr<PinnedBytes>> pinned;
    for (int i = 0; i < 4; ++i) {
      pinned.push_back(std::make_unique<PinnedBytes>(kLarge));
      std::memset(pinned.back()->data(), 1, kLarge);
    }
    EXPECT_GE(ResidentBytes() - before, 3 * kLarge);
  }
  EXPECT_LT(ResidentBytes(), before + kLarge);
}

TEST_F(DamageTest, OfATaskIsToldWhenItEnds) {
  DeviceArray<uint8_t> memory(kBytes);
  aclrtStream stream = NewStream();
  Overrun overrun(kBytes + 3, 5);
  overrun.Launch(memory.data(), kBytes, stream);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_THAT(
      Said(),
      AllOf(HasSubstr("memory behind an allocation was written"),
            HasSubstr("seen at the end of sumOfMine"),
            ContainsRegex("bytes 403 to 407, behind the 400 that were allocated at 0x[0-9a-f]+ on "
                          "device 0")));
  Overrun elsewhere(kBytes + 1, 1);
  elsewhere.Launch(memory.data(), kBytes, stream);
  memory.Free();
  ASSERT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_THAT(Reported(), Not(HasSubstr("memory behind"))) << "once for an allocation";
}

// Of one mistake in a loop, whatever the memory, there is one report.
TEST_F(DamageTest, ALoopIsToldOnce) {
  for (int i = 0; i < 3; ++i) {
    PinnedBytes pinned(kBytes);
    pinned.data()[kBytes] = 1;
  }
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr("memory behind an allocation was written"));
  EXPECT_THAT(text, HasSubstr("openaclnn: 3 errors found (memcheck 3), 1 reported "));
}

TEST_F(DamageTest, IsSeenAtTheLatestWhenTheMemoryIsFreed) {
  {
    PinnedBytes pinned(kBytes);
    pinned.data()[kBytes] = 1;
    EXPECT_EQ(Said(), "");
  }
  EXPECT_THAT(Said(), AllOf(HasSubstr("seen at the end of aclrtFreeHost"),
                            HasSubstr("no task has used the allocation"),
                            ContainsRegex("byte 400, behind the 400 that were allocated at "
                                          "0x[0-9a-f]+ in pinned host memory by aclrtMallocHost")));
  // Far behind, where no task looks.
  DeviceArray<uint8_t> memory(kBytes + 1);
  Overrun overrun(kBytes + 100, 1);
  overrun.Launch(memory.data(), kBytes + 1, nullptr);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  memory.Free();
  EXPECT_THAT(Said(), AllOf(HasSubstr("seen at the end of aclrtFree;"),
                            HasSubstr("the last task that used the allocation is sumOfMine"),
                            HasSubstr("byte 500, behind the 401")));
}

TEST_F(DamageTest, IsSeenAtTheEndOfTheLibrary) {
  void* left = nullptr;
  ASSERT_EQ(aclrtMalloc(&left, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  Overrun overrun(kBytes + 100, 1);
  overrun.Launch(left, kBytes, nullptr);
  EXPECT_THAT(Reported(), HasSubstr("seen at the end of aclFinalize"));
}

TEST_F(DamageTest, LeakedPinnedMemoryIsLookedAtInTheEnd) {
  PinnedBytes left(kBytes);
  left.data()[kBytes + 3] = 1;
  const std::string said = Reported();
  EXPECT_THAT(said, AllOf(HasSubstr("seen at the end of aclFinalize"),
                          HasSubstr("byte 403, behind the 400 that were allocated at")));
}

TEST_F(DamageTest, ThereIsNoneOfAProgramThatUsesAllItsMemory) {
  std::vector<std::unique_ptr<DeviceArray<uint8_t>>> arrays;
  std::vector<std::unique_ptr<PinnedBytes>> pinned;
  for (size_t size = 1; size < 3000; size += size < 20 ? 1 : 61) {
    arrays.push_back(std::make_unique<DeviceArray<uint8_t>>(size));
    ASSERT_EQ(aclrtMemset(arrays.back()->data(), size, 1, size), 0);
    pinned.push_back(std::make_unique<PinnedBytes>(size));
    std::memset(pinned.back()->data(), 1, size);
  }
  arrays.clear();
  pinned.clear();
  EXPECT_EQ(Reported(), "");
}

class FullDamageTest : public DamageTest {
 private:
  Variable full_{"OPENACLNN_CHECK", "full"};
};

// Pinned memory begins at a page: the bytes up to the next one are no page of their own.
TEST_F(FullDamageTest, OfTheLastPageOfPinnedMemory) {
  for (const size_t at : {kBytes, size_t{4095}}) {
    PinnedBytes pinned(kBytes);
    pinned.data()[at] = 1;
    ASSERT_EQ(aclrtSynchronizeDevice(), 0);
    EXPECT_THAT(Said(), HasSubstr(Concat("byte ", at, ", behind the 400 that were allocated at")));
  }
}

TEST_F(FullDamageTest, IsSeenByWhoeverSynchronises) {
  DeviceArray<uint8_t> memory(kBytes), other(kBytes);
  Overrun overrun(-5, 2);
  overrun.Launch(memory.data(), kBytes, nullptr);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_THAT(Said(), AllOf(HasSubstr("memory before an allocation was written"),
                            HasSubstr("seen at the end of sumOfMine"),
                            HasSubstr("bytes -5 to -4, before the 400 that were allocated at")));
  Overrun elsewhere(other.data() - memory.data() - 1, 1);
  elsewhere.Launch(memory.data(), kBytes, nullptr);
  ASSERT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_THAT(Said(), AllOf(HasSubstr("seen at the end of aclrtSynchronizeDevice"),
                            HasSubstr("byte -1, before the 400 that were allocated at")));
}

TEST_F(FullDamageTest, IsSeenByWhoeverSynchronisesForAWhile) {
  constexpr int32_t kTimeout = 60'000;  // ms
  const aclrtEvent event = NewEvent(ACL_EVENT_SYNC);
  size_t size = kBytes;
  const auto seen_by = [&](const char* call, const auto& synchronise) {
    DeviceArray<uint8_t> used(kBytes), memory(++size);  // the same place is told once
    Overrun elsewhere(memory.data() - used.data() - 1, 1);
    elsewhere.Launch(used.data(), kBytes, nullptr);
    ASSERT_EQ(synchronise(), 0) << TakeMessage();
    EXPECT_THAT(Said(), HasSubstr(Concat("seen at the end of ", call, ";")));
  };
  seen_by("aclrtSynchronizeStreamWithTimeout",
          [&] { return aclrtSynchronizeStreamWithTimeout(nullptr, kTimeout); });
  seen_by("aclrtSynchronizeDeviceWithTimeout",
          [&] { return aclrtSynchronizeDeviceWithTimeout(kTimeout); });
  seen_by("aclrtSynchronizeEventWithTimeout", [&] {
    return aclrtRecordEvent(event, nullptr) + aclrtSynchronizeEventWithTimeout(event, kTimeout);
  });
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

// Of many, a synchronise looks at some.
TEST_F(FullDamageTest, IsSeenInItsTurn) {
  std::vector<std::unique_ptr<DeviceArray<uint8_t>>> arrays;
  for (int i = 0; i < 600; ++i)
    arrays.push_back(std::make_unique<DeviceArray<uint8_t>>(kBytes + i));
  const auto by_address = [](const auto& a, const auto& b) { return a->data() < b->data(); };
  std::sort(arrays.begin(), arrays.end(), by_address);
  for (const size_t i : {0, 299, 598}) {
    // By a task that uses another allocation.
    Overrun elsewhere(arrays[i]->data() - arrays.back()->data() - 1, 1);
    elsewhere.Launch(arrays.back()->data(), kBytes, nullptr);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  }
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aclrtSynchronizeDevice(), 0);
  const std::string said = Said();
  for (const size_t i : {0, 299, 598}) {
    EXPECT_THAT(said, HasSubstr(Concat("byte -1, before the ", arrays[i]->bytes(),
                                       " that were allocated at ",
                                       static_cast<const void*>(arrays[i]->data()))));
  }
}

class UncheckedDamageTest : public DamageTest {
 private:
  Variable off_{"OPENACLNN_CHECK", "off"};
};

TEST_F(UncheckedDamageTest, IsNotLookedFor) {
  {
    PinnedBytes pinned(kBytes);
    pinned.data()[kBytes] = 1;
  }
  EXPECT_EQ(Reported(), "");
}

}  // namespace
}  // namespace openaclnn
