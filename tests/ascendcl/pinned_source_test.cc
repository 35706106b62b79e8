// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK=full: pinned memory that the host writes before a queued copy has read it.
#include <cstring>

#include "common/text.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr const char* kReport = "the host has changed the source of a queued ";
constexpr size_t kHeld = size_t{64} << 20;  // bytes whose fill holds the stream for a while

/// A write that ThreadSanitizer is not to tell of: it is the mistake.
[[gnu::no_sanitize("thread")]] void Overwrite(unsigned char* byte) {
  *static_cast<volatile unsigned char*>(byte) = static_cast<unsigned char>(*byte + 1);
}

class PinnedSourceTest : public WatchedTest {
 protected:
  PinnedSourceTest() : WatchedTest("full") {}
  void SetUp() override {
    WatchedTest::SetUp();
    held.emplace(kHeld);
  }
  void TearDown() override {
    held.reset();
    WatchedTest::TearDown();
  }

  void Hold() const {
    ASSERT_EQ(aclrtMemsetAsync(held->data(), kHeld, 1, kHeld, stream), 0) << TakeMessage();
  }
  void Copy(void* dst, const void* src, size_t bytes, aclrtMemcpyKind kind) const {
    ASSERT_EQ(aclrtMemcpyAsync(dst, bytes, src, bytes, kind, stream), 0) << TakeMessage();
  }
  /// Until a copy is still queued when its source is written: what holds it is only work.
  std::string ReportOf(size_t bytes, size_t written) const {
    const PinnedBytes source(bytes);
    const NewMemory target(bytes);
    std::memset(source.data(), 0, bytes);
    std::string text;
    for (int i = 0; i < 50 && text.empty(); ++i) {
      Hold();
      Copy(target.data(), source.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
      Overwrite(source.data() + written);
      text = Reported();
    }
    EXPECT_THAT(text, HasSubstr(Concat(" of the ", bytes, " that were allocated at ",
                                       static_cast<const void*>(source.data()),
                                       " in pinned host memory by aclrtMallocHost\n")));
    return text;
  }

  std::optional<NewMemory> held;
};

TEST_F(PinnedSourceTest, ASmallSourceToTheByte) {
  const std::string text = ReportOf(10'000, 5'000);
  EXPECT_THAT(text, HasSubstr(Concat("racecheck: ", kReport, "aclrtMemcpyAsync\n")));
  EXPECT_THAT(text, HasSubstr("where: first changed: byte 5000 of the 10000 that"));
  EXPECT_THAT(text, HasSubstr("fix:   wait before the memory is written again"));
}

TEST_F(PinnedSourceTest, ALargeOneToThePiece) {
  EXPECT_THAT(ReportOf(size_t{3} << 20, 4096 * 300 + 17),
              HasSubstr("where: first changed: bytes 1228800 to 1232895 of the "));
}

TEST_F(PinnedSourceTest, UnchangedOrRead) {
  const PinnedBytes source(100);
  const NewMemory target(100);
  std::memset(source.data(), 1, 100);
  for (int i = 0; i < 3; ++i) {
    Copy(target.data(), source.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    Overwrite(source.data());
  }
  EXPECT_EQ(Reported(), "");
}

TEST_F(PinnedSourceTest, OfRowsWhatLiesBetweenIsFree) {
  const PinnedBytes source(100);
  const NewMemory target(100);
  std::memset(source.data(), 1, 100);
  Hold();
  ASSERT_EQ(aclrtMemcpy2dAsync(target.data(), 10, source.data(), 20, 10, 5,
                               ACL_MEMCPY_HOST_TO_DEVICE, stream),
            0)
      << TakeMessage();
  Overwrite(source.data() + 35);
  EXPECT_EQ(Reported(), "");
}

TEST_F(PinnedSourceTest, TasksInOrderMayWriteIt) {
  const PinnedBytes between(100);
  const DeviceArray<unsigned char> source(100, 7);
  const NewMemory target(100);
  std::memset(between.data(), 1, 100);
  Hold();
  Copy(between.data(), source.data(), 100, ACL_MEMCPY_DEVICE_TO_HOST);
  Copy(target.data(), between.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE);
  ASSERT_EQ(aclrtMemsetAsync(between.data(), 100, 9, 100, stream), 0) << TakeMessage();
  Copy(target.data(), between.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE);
  EXPECT_EQ(Reported(), "");
}

TEST_F(PinnedSourceTest, FunctionsOfTheHostMayWriteIt) {
  const PinnedBytes source(100);
  const NewMemory target(100);
  std::memset(source.data(), 1, 100);
  Gate gate(stream);
  const auto fill = [](void* data) { std::memset(data, 2, 100); };
  ASSERT_EQ(aclrtLaunchHostFunc(stream, fill, source.data()), 0) << TakeMessage();
  Copy(target.data(), source.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE);
  gate.Open();
  EXPECT_EQ(Reported(), "");
}

}  // namespace
}  // namespace openaclnn
