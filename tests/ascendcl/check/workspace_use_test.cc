// SPDX-License-Identifier: Apache-2.0
// Tasks that would compute in one workspace at the same time are told, others not.
#include <atomic>
#include <chrono>
#include <thread>

#include "common/text.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kBytes = 1000;
constexpr const char* kReport = "compute in one workspace at the same time";

constexpr std::chrono::milliseconds kWhile{50};

class WorkspaceUseTest : public WatchedTest {
 protected:
  explicit WorkspaceUseTest(const char* level = "fast") : WatchedTest(level) {}
  void SetUp() override {
    WatchedTest::SetUp();
    other = NewStream();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSynchronizeStream(other), 0);
    EXPECT_EQ(aclrtDestroyStream(other), 0);
    WatchedTest::TearDown();
  }

  /// Returns what is said of two tasks whose workspaces begin at these bytes of an allocation, of
  /// which the second is run while the first one computes.
  std::string Meet(size_t first, size_t second) const {
    const DeviceArray<char> memory(4 * kBytes);
    std::atomic<bool> begun{false};
    OwnOperator own(
        [&](void* const*, void*) {
          if (!begun.exchange(true)) std::this_thread::sleep_for(kWhile);
          return 0;
        },
        kBytes);
    EXPECT_EQ(own.Launch(stream, memory.data() + first), 0) << TakeMessage();
    while (!begun) std::this_thread::yield();
    EXPECT_EQ(own.Launch(other, memory.data() + second), 0) << TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStream(other), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    return Reported();
  }

  aclrtStream other = nullptr;

 private:
  Variable threads_{"OPENACLNN_NUM_THREADS", "2"};
};

TEST_F(WorkspaceUseTest, TheSame) {
  const std::string text = Meet(64, 64);
  EXPECT_THAT(text, HasSubstr(Concat("openaclnn: racecheck: aclnnOwn and aclnnOwn ", kReport)));
  EXPECT_THAT(text, HasSubstr("where: bytes 64 to 1063 of the 4000 that were allocated at 0x"));
  EXPECT_EQ(Count(text, kReport), 1U);
  EXPECT_EQ(Meet(64, 64), "") << "once";
}

TEST_F(WorkspaceUseTest, Overlapping) { EXPECT_THAT(Meet(992, 0), HasSubstr(kReport)); }
TEST_F(WorkspaceUseTest, Neighbours) {
  EXPECT_EQ(Meet(1024, 0), "");
  EXPECT_EQ(Meet(0, 1024), "");
}

TEST_F(WorkspaceUseTest, OneAfterTheOther) {
  const DeviceArray<char> memory(kBytes);
  OwnOperator own([](void* const*, void*) { return 0; }, kBytes);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(own.Launch(i % 2 == 0 ? stream : other, memory.data()), 0) << TakeMessage();
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  }
  EXPECT_EQ(Reported(), "");
}

class UncheckedWorkspaceUseTest : public WorkspaceUseTest {
 protected:
  UncheckedWorkspaceUseTest() : WorkspaceUseTest("off") {}
};

TEST_F(UncheckedWorkspaceUseTest, IsNotTold) { EXPECT_EQ(Meet(0, 0), ""); }

class FullWorkspaceUseTest : public WorkspaceUseTest {
 protected:
  FullWorkspaceUseTest() : WorkspaceUseTest("full") {}
};

TEST_F(FullWorkspaceUseTest, IsToldAtTheCall) {
  const std::string text = Meet(0, 0);
  EXPECT_EQ(Count(text, "openaclnn: racecheck: nothing orders aclnnOwn"), 1U);
  EXPECT_EQ(Count(text, kReport), 0U);
}

}  // namespace
}  // namespace openaclnn
