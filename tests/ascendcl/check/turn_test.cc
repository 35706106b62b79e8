// SPDX-License-Identifier: Apache-2.0
// Tasks that nothing orders, and that use the same bytes, compute one after the other: none finds
// another's numbers where it has left its own.
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>

#include "tests/ascendcl/gradient.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

constexpr size_t kBytes = 4096;
constexpr aclDataType kBytesType = ACL_UINT8;

/// Whether bytes stay what they are while others might change them.
bool Stay(const void* bytes) {
  unsigned char before[kBytes];
  std::memcpy(before, bytes, kBytes);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return std::memcmp(before, bytes, kBytes) == 0;
}

/// Two streams at each level of checks.
class TurnTest : public WatchedTest, public testing::WithParamInterface<const char*> {
 protected:
  TurnTest() : WatchedTest(GetParam()) {}
  void SetUp() override {
    WatchedTest::SetUp();
    other = NewStream();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(other), 0);
    WatchedTest::TearDown();
  }
  void ExpectDone() const {
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStream(other), 0) << TakeMessage();
  }

  aclrtStream other = nullptr;

 private:
  Variable threads_{"OPENACLNN_NUM_THREADS", "2"};
};

TEST_P(TurnTest, InOneWorkspace) {
  const DeviceArray<unsigned char> memory(2 * kBytes);
  std::atomic<int> next{0};
  OwnOperator own(
      [&](void* const*, void* workspace) {
        std::memset(workspace, ++next, kBytes);
        return Stay(workspace) ? 0 : 1;
      },
      kBytes);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(own.Launch(stream, memory.data()), 0) << TakeMessage();
    ASSERT_EQ(own.Launch(other, memory.data() + i * 64), 0) << TakeMessage();
  }
  ExpectDone();
}

INSTANTIATE_TEST_SUITE_P(Level, TurnTest, testing::Values("off", "fast", "full"),
                         [](const auto& level) { return std::string(level.param); });

/// With full a task's operands are its own, too.
class FullTurnTest : public TurnTest {
 protected:
  void SetUp() override {
    TurnTest::SetUp();
    memory = std::make_unique<DeviceArray<unsigned char>>(kBytes, 1);
    reader.Add("indices", OPENACLNN_INPUT, view, memory->data());
    writer.Add("out", OPENACLNN_OUTPUT, view, memory->data());
  }
  void TearDown() override {
    memory.reset();
    TurnTest::TearDown();
  }
  /// `write` is what other streams or the host do meanwhile.
  template <class Write>
  void ExpectApart(const Write& write) {
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(reader.Launch(stream), 0) << TakeMessage();
      write(i);
    }
    ExpectDone();
    EXPECT_GE(Count(Reported(), "openaclnn: racecheck: nothing orders"), 1U) << "and it is told";
  }

  const OwnOperator::View view = {kBytesType, {kBytes}, {1}};
  std::unique_ptr<DeviceArray<unsigned char>> memory;
  OwnOperator reader{[](void* const* data, void*) { return Stay(data[0]) ? 0 : 1; }};
  OwnOperator writer{[this](void* const* data, void*) {
    std::memset(data[0], ++written, kBytes);
    return 0;
  }};
  std::atomic<int> written{1};
};

TEST_P(FullTurnTest, AnotherOperatorsOutput) {
  ExpectApart([&](int) { ASSERT_EQ(writer.Launch(other), 0) << TakeMessage(); });
}
TEST_P(FullTurnTest, ACopy) {
  const PinnedBytes pinned(kBytes);
  ExpectApart([&](int i) {
    pinned.data()[7] = static_cast<unsigned char>(i);
    ASSERT_EQ(aclrtMemcpyAsync(memory->data(), kBytes, pinned.data(), kBytes,
                               ACL_MEMCPY_HOST_TO_DEVICE, other),
              0);
    ASSERT_EQ(aclrtSynchronizeStream(other), 0);
  });
}
TEST_P(FullTurnTest, ACopyOfTheHosts) {
  unsigned char bytes[kBytes] = {};
  ExpectApart([&](int i) {
    bytes[7] = static_cast<unsigned char>(i);
    ASSERT_EQ(aclrtMemcpy(memory->data(), kBytes, bytes, kBytes, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  });
}
TEST_P(FullTurnTest, AFill) {
  ExpectApart([&](int i) { ASSERT_EQ(aclrtMemset(memory->data(), kBytes, i, kBytes), 0); });
  ExpectApart(
      [&](int i) { ASSERT_EQ(aclrtMemsetAsync(memory->data(), kBytes, i, kBytes, other), 0); });
}

INSTANTIATE_TEST_SUITE_P(Level, FullTurnTest, testing::Values("full"));

// The library's own operators have what they have sorted in their workspace.
TEST_P(TurnTest, OfOperatorsInOneWorkspace) {
  constexpr int64_t kRows = 3000;
  Gradient first(0, kRows), second(1, kRows);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(first.Plan(&bytes, &executor), 0);
  ASSERT_EQ(aclDestroyAclOpExecutor(executor), 0);
  const DeviceArray<unsigned char> workspace(bytes + 1);
  for (int i = 0; i < 100; ++i) {
    for (auto [gradient, to] : {std::pair(&first, stream), std::pair(&second, other)}) {
      ASSERT_EQ(gradient->Plan(&bytes, &executor), 0);
      ASSERT_EQ(aclnnEmbeddingDenseBackward(workspace.data(), bytes, executor, to), 0);
    }
  }
  ExpectDone();
  EXPECT_EQ(first.out().Read(),
            (std::vector<float>{kRows, 2 * kRows, 3 * kRows, 4 * kRows, 0, 0, 0, 0}));
  EXPECT_EQ(second.out().Read(),
            (std::vector<float>{0, 0, 0, 0, kRows, 2 * kRows, 3 * kRows, 4 * kRows}));
}

}  // namespace
}  // namespace openaclnn
