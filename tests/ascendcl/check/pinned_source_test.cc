// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK=full: pinned memory that the host writes before a queued copy has read it.
#include <cstring>

#include "common/text.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr const char* kReport = "the host has changed the source of a queued ";
constexpr size_t kBytes = 1000;
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
  /// Rows of 10 bytes, 20 apart.
  void CopyRows(void* dst, const void* src, size_t rows) const {
    ASSERT_EQ(aclrtMemcpy2dAsync(dst, 10, src, 20, 10, rows, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0)
        << TakeMessage();
  }
  /// What is said of a byte that is written behind `launch`, which copies it. Repeated until the
  /// copy is still queued then: what holds it is only work.
  template <class Launch>
  std::string ReportOf(unsigned char* written, const Launch& launch) const {
    std::string text;
    for (int i = 0; i < 50 && text.empty(); ++i) {
      Hold();
      launch();
      Overwrite(written);
      text = Reported();
    }
    return text;
  }
  /// The same of a source of so many bytes, copied as one row or as several.
  std::string ReportOf(size_t bytes, size_t written, size_t rows = 1) const {
    const PinnedBytes source(bytes);
    const NewMemory target(bytes);
    for (size_t i = 0; i < bytes; ++i) source.data()[i] = static_cast<unsigned char>(i / 256);
    const size_t width = bytes / rows;
    const std::string text = ReportOf(source.data() + written, [&] {
      if (rows == 1) return Copy(target.data(), source.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
      ASSERT_EQ(aclrtMemcpy2dAsync(target.data(), width, source.data(), width, width, rows,
                                   ACL_MEMCPY_HOST_TO_DEVICE, stream),
                0)
          << TakeMessage();
    });
    EXPECT_THAT(text, HasSubstr(Concat(" of the ", bytes, " that were allocated at ",
                                       static_cast<const void*>(source.data()),
                                       " in pinned host memory by aclrtMallocHost\n")));
    return text;
  }

  std::optional<NewMemory> held;
};

// As a host that clears what it expects a copy to fill, too late.
TEST_F(PinnedSourceTest, ADestination) {
  const PinnedBytes target(kBytes);
  const NewMemory source(kBytes);
  ASSERT_EQ(aclrtMemset(source.data(), kBytes, 7, kBytes), 0);
  const std::string text = ReportOf(target.data() + 100, [&] {
    Copy(target.data(), source.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
  });
  EXPECT_THAT(text, HasSubstr(Concat("the host has changed the destination of a queued "
                                     "aclrtMemcpyAsync\n         on stream ",
                                     stream, " before the copy has written it\n")));
  EXPECT_THAT(text, HasSubstr("what:  aclrtMemcpyAsync writes dst; the host wrote there after"));
  EXPECT_THAT(text, HasSubstr("first changed: byte 100 of the 1000 "));
}

// A fill and copies write the destination of later copies that are still queued. Repeated until
// they are queued when the last one is launched: only work holds the stream.
TEST_F(PinnedSourceTest, ADestinationThatTasksWrite) {
  const PinnedBytes target(kBytes);
  const NewMemory source(kBytes);
  ASSERT_EQ(aclrtMemset(source.data(), kBytes, 7, kBytes), 0);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  for (int i = 0; i < 50 && status == ACL_STREAM_STATUS_COMPLETE; ++i) {
    Hold();
    ASSERT_EQ(aclrtMemsetAsync(target.data(), kBytes, 1, kBytes, stream), 0);
    for (int j = 0; j < 3; ++j) {
      Copy(target.data(), source.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
    }
    ASSERT_EQ(aclrtStreamQuery(stream, &status), 0);
  }
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY) << "no copy was queued behind the fill";
  EXPECT_EQ(Reported(), "");
}

TEST_F(PinnedSourceTest, ASmallSourceToTheByte) {
  const std::string text = ReportOf(10'000, 5'000);
  EXPECT_THAT(text,
              HasSubstr(Concat("racecheck: ", kReport, "aclrtMemcpyAsync\n         on stream ",
                               stream, " before the copy")));
  EXPECT_THAT(text, HasSubstr("where: first changed: byte 5000 of the 10000 that"));
  EXPECT_THAT(text, HasSubstr("fix:   wait before the memory is written again"));
}

TEST_F(PinnedSourceTest, ASourceOfAMebibyteToTheByte) {
  EXPECT_THAT(ReportOf(size_t{1} << 20, 5'000), HasSubstr("first changed: byte 5000 of the "));
}

TEST_F(PinnedSourceTest, ALargeOneToThePiece) {
  constexpr const char* kPiece = "where: first changed: bytes 1228800 to 1232895 of the ";
  EXPECT_THAT(ReportOf(size_t{3} << 20, 4096 * 300 + 17), HasSubstr(kPiece));
  EXPECT_THAT(ReportOf(size_t{3} << 20, 4096 * 300 + 17, 4), HasSubstr(kPiece));
  EXPECT_THAT(ReportOf((size_t{3} << 20) + 5, (size_t{3} << 20) + 4),
              HasSubstr("bytes 3145728 to 3145732 of the "));
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

TEST_F(PinnedSourceTest, OfRowsWhatLiesBetweenOrBehindIsFree) {
  const PinnedBytes source(120);
  const NewMemory target(100);
  std::memset(source.data(), 1, 120);
  Hold();
  CopyRows(target.data(), source.data(), 5);
  Overwrite(source.data() + 35);
  Overwrite(source.data() + 105);
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
  Hold();
  Copy(between.data() + 80, source.data(), 10, ACL_MEMCPY_DEVICE_TO_HOST);
  CopyRows(target.data(), between.data(), 5);
  EXPECT_EQ(Reported(), "") << "the last row too";
}

TEST_F(PinnedSourceTest, TasksOfAGraphInOrderMayWriteIt) {
  const PinnedBytes between(100);
  const DeviceArray<unsigned char> source(100, 7);
  const NewMemory target(100);
  std::memset(between.data(), 1, 100);
  aclmdlRI copies = nullptr, fills = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  Copy(between.data(), source.data(), 100, ACL_MEMCPY_DEVICE_TO_HOST);
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &copies), 0) << TakeMessage();
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  ASSERT_EQ(aclrtMemsetAsync(between.data(), 100, 9, 100, stream), 0) << TakeMessage();
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &fills), 0) << TakeMessage();
  for (const aclmdlRI model : {copies, fills, copies}) {
    Hold();
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream), 0) << TakeMessage();
    Copy(target.data(), between.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE);
    EXPECT_EQ(Reported(), "");
  }
  // Executions that are done write nothing any more.
  EXPECT_THAT(
      ReportOf(between.data(),
               [&] { Copy(target.data(), between.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE); }),
      HasSubstr(kReport));
  EXPECT_EQ(aclmdlRIDestroy(copies), 0);
  EXPECT_EQ(aclmdlRIDestroy(fills), 0);
}

TEST_F(PinnedSourceTest, WhatTasksWriteBesideItIsNoMatter) {
  const PinnedBytes source(120);
  const DeviceArray<unsigned char> values(100, 7);
  const NewMemory target(100);
  std::memset(source.data(), 1, 120);
  EXPECT_THAT(ReportOf(source.data() + 85,
                       [&] {
                         Copy(source.data(), values.data(), 20, ACL_MEMCPY_DEVICE_TO_HOST);
                         Copy(source.data() + 90, values.data(), 10, ACL_MEMCPY_DEVICE_TO_HOST);
                         CopyRows(target.data(), source.data() + 20, 4);
                       }),
              HasSubstr(Concat(kReport, "aclrtMemcpy2dAsync\n")));
}

TEST_F(PinnedSourceTest, WritesThatHaveEndedAreNoMatter) {
  const PinnedBytes first(100), second(100);
  const DeviceArray<unsigned char> values(100, 7);
  const NewMemory target(100);
  Hold();
  for (const PinnedBytes* memory : {&first, &second}) {
    Copy(memory->data(), values.data(), 100, ACL_MEMCPY_DEVICE_TO_HOST);
  }
  EXPECT_EQ(Reported(), "");
  for (const PinnedBytes* memory : {&first, &second}) {
    const auto copy = [&] { Copy(target.data(), memory->data(), 100, ACL_MEMCPY_HOST_TO_DEVICE); };
    EXPECT_THAT(ReportOf(memory->data() + 5, copy), HasSubstr(kReport));
  }
}

TEST_F(PinnedSourceTest, IsToldOnceWhicheverByteItIs) {
  const PinnedBytes source(100);
  const NewMemory target(100);
  std::memset(source.data(), 1, 100);
  const auto copy = [&] { Copy(target.data(), source.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE); };
  EXPECT_THAT(ReportOf(source.data() + 5, copy), HasSubstr(kReport));
  EXPECT_EQ(ReportOf(source.data() + 7, copy), "");
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
