// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK=full: elements of an output that a task does not write are reported, others not.
#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <random>

#include "common/text.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr const char* kReport = "openaclnn: initcheck: ";

class OutputWatchTest : public WatchedTest {
 protected:
  OutputWatchTest() : WatchedTest("full") {}

  static OwnOperator::View Dense(aclDataType dtype, int64_t count) { return {dtype, {count}, {1}}; }
  void Run(OwnOperator* own) const { ASSERT_EQ(own->Launch(stream), 0) << TakeMessage(); }

  /// What is said of an operator whose only output has `count` elements, of which its task writes
  /// all but those from `begin` on and before `end`.
  template <class T>
  std::string Leave(aclDataType dtype, int64_t count, int64_t begin, int64_t end) {
    const DeviceArray<T> out(static_cast<size_t>(count), T{7});
    OwnOperator own([=](void* const* data, void*) {
      auto* values = static_cast<T*>(data[0]);
      for (int64_t i = 0; i < count; ++i) {
        if (i < begin || i >= end) values[i] = T{3};
      }
      return 0;
    });
    own.Add("out", OPENACLNN_OUTPUT, Dense(dtype, count), out.data());
    Run(&own);
    std::string text = Reported();
    const std::vector<T> values = out.Read();
    for (int64_t i = 0; i < count; ++i) {
      const bool left = i >= begin && i < end;
      // May be values, and so they hold the pattern.
      if (left && text.empty() && out.bytes() >= 8) continue;
      EXPECT_EQ(values[static_cast<size_t>(i)], left ? T{7} : T{3}) << i;
    }
    return text;
  }
};

TEST_F(OutputWatchTest, ElementsThatTheTaskLeaves) {
  const std::string text = Leave<float>(ACL_FLOAT, 1000, 997, 1000);
  EXPECT_THAT(text, HasSubstr(Concat(kReport, "aclnnOwn has not written all of out\n")));
  EXPECT_THAT(text, HasSubstr("what:  3 of the 1000 elements of out are as they were before"));
  EXPECT_THAT(text, HasSubstr("where: bytes 3988 to 3999 of the 4000 that were allocated at 0x"));
  EXPECT_THAT(text, HasSubstr("fix:   let the operator write each element"));
  EXPECT_EQ(Leave<float>(ACL_FLOAT, 1000, 997, 1000), "") << "once";
}

TEST_F(OutputWatchTest, OneElementOfFourBytes) {
  EXPECT_THAT(Leave<float>(ACL_FLOAT, 10, 0, 1), HasSubstr("1 of the 10 elements"));
}
TEST_F(OutputWatchTest, TwoIntegersOfFourBytes) {
  EXPECT_THAT(Leave<int32_t>(ACL_INT32, 10, 0, 2), HasSubstr("2 of the 10 elements"));
}
TEST_F(OutputWatchTest, OneElementOfEightBytes) {
  EXPECT_THAT(Leave<int64_t>(ACL_INT64, 10, 9, 10), HasSubstr("1 of the 10 elements"));
}
TEST_F(OutputWatchTest, AllElements) {
  EXPECT_THAT(Leave<double>(ACL_DOUBLE, 3, 0, 3), HasSubstr("3 of the 3 elements"));
}
TEST_F(OutputWatchTest, SmallElementsThatAreEightBytes) {
  EXPECT_THAT(Leave<uint16_t>(ACL_FLOAT16, 9, 1, 5), HasSubstr("4 of the 9 elements"));
}
TEST_F(OutputWatchTest, SmallestElementsThatAreEightBytes) {
  EXPECT_THAT(Leave<uint8_t>(ACL_BOOL, 100, 3, 12), HasSubstr("9 of the 100 elements"));
}
TEST_F(OutputWatchTest, HalfAnElement) {
  const DeviceArray<double> out(8);
  OwnOperator own([](void* const* data, void*) {
    std::fill_n(static_cast<double*>(data[0]), 7, 3.0);
    return 0;
  });
  own.Add("out", OPENACLNN_OUTPUT, Dense(ACL_COMPLEX128, 4), out.data());
  Run(&own);
  EXPECT_THAT(Reported(), HasSubstr("1 of the 4 elements"));
}
TEST_F(OutputWatchTest, FewerSmallElementsMayBeValues) {
  EXPECT_EQ(Leave<uint16_t>(ACL_BF16, 9, 1, 4), "");
  EXPECT_EQ(Leave<int8_t>(ACL_INT8, 100, 3, 10), "");
  EXPECT_EQ(Leave<int32_t>(ACL_INT32, 10, 0, 1), "");
}
TEST_F(OutputWatchTest, OfFewerThanEightBytesNothingIsSaidOrChanged) {
  EXPECT_EQ(Leave<int32_t>(ACL_INT32, 1, 0, 1), "");
  EXPECT_EQ(Leave<uint8_t>(ACL_BOOL, 7, 1, 7), "");
  EXPECT_THAT(Leave<float>(ACL_FLOAT, 1, 0, 1), HasSubstr("1 of the 1 elements"));
}

TEST_F(OutputWatchTest, TheSameFewThatTasksInARowLeave) {
  EXPECT_EQ(Leave<int32_t>(ACL_INT32, 10, 0, 0), "") << "whatever was left before";
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Leave<int32_t>(ACL_INT32, 10, i % 2, i % 2 + 1), "") << "not the same";
  }
  EXPECT_EQ(Leave<int32_t>(ACL_INT32, 10, 0, 1), "");
  EXPECT_EQ(Leave<int32_t>(ACL_INT32, 10, 0, 0), "") << "not in a row";
  EXPECT_EQ(Leave<int32_t>(ACL_INT32, 10, 9, 10), "");
  const std::string text = Leave<int32_t>(ACL_INT32, 10, 9, 10);
  EXPECT_THAT(text, HasSubstr("1 of the 10 elements of out"));
  EXPECT_THAT(text, HasSubstr("where: bytes 36 to 39 of the 40"));
}
TEST_F(OutputWatchTest, SmallerOnesByMoreTasks) {
  EXPECT_EQ(Leave<uint16_t>(ACL_BF16, 9, 0, 0), "");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Leave<uint16_t>(ACL_BF16, 9, 4, 5), "");
  EXPECT_THAT(Leave<uint16_t>(ACL_BF16, 9, 4, 5), HasSubstr("1 of the 9 elements of out"));
}

TEST_F(OutputWatchTest, AnyValuesAreValues) {
  constexpr int64_t kCount = 4096;
  std::mt19937_64 random(1);
  for (const aclDataType dtype : {ACL_INT8, ACL_FLOAT16, ACL_INT32, ACL_FLOAT, ACL_DOUBLE}) {
    const DeviceArray<uint64_t> out(kCount);
    OwnOperator own([&](void* const* data, void*) {
      auto* words = static_cast<uint64_t*>(data[0]);
      for (int64_t i = 0; i < kCount; ++i) words[i] = random();
      return 0;
    });
    const int64_t bytes = static_cast<int64_t>(aclDataTypeSize(dtype));
    own.Add("out", OPENACLNN_OUTPUT, Dense(dtype, kCount * 8 / bytes), out.data());
    for (int i = 0; i < 10; ++i) Run(&own);
    EXPECT_EQ(Reported(), "");
  }
}

// All the integers whose bytes are signalling NaNs of FLOAT.
TEST_F(OutputWatchTest, IntegersThatWouldBeNaNsAreValues) {
  constexpr int32_t kFirst = -0x7FFFFF, kCount = 0x3FFFFF;
  const DeviceArray<int32_t> out(kCount);
  OwnOperator own([&](void* const* data, void*) {
    std::iota(static_cast<int32_t*>(data[0]), static_cast<int32_t*>(data[0]) + kCount, kFirst);
    return 0;
  });
  own.Add("out", OPENACLNN_OUTPUT, Dense(ACL_INT32, kCount), out.data());
  for (int i = 0; i < 10; ++i) Run(&own);
  EXPECT_EQ(Reported(), "");
  const std::vector<int32_t> values = out.Read();
  for (int32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(values[static_cast<size_t>(i)], kFirst + i) << "and are left alone";
  }
}

// Each element is a run of bytes of its own; one of the values is that of a byte of the pattern.
TEST_F(OutputWatchTest, EqualBytesApartAreValues) {
  constexpr int64_t kCount = 64;
  const DeviceArray<uint8_t> out(2 * kCount);
  int value = 0;
  OwnOperator own([&](void* const* data, void*) {
    auto* bytes = static_cast<uint8_t*>(data[0]);
    for (int64_t i = 0; i < kCount; ++i) bytes[2 * i] = static_cast<uint8_t>(value);
    return 0;
  });
  own.Add("out", OPENACLNN_OUTPUT, {ACL_UINT8, {kCount}, {2}}, out.data());
  for (; value < 10 * 256; ++value) {
    Run(&own);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  }
  EXPECT_EQ(Reported(), "");
}

TEST_F(OutputWatchTest, Strided) {
  const DeviceArray<float> out(100, 7.0F);
  OwnOperator own([](void* const* data, void*) {
    auto* values = static_cast<float*>(data[0]);
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        if (i != 2 || j != 1) values[i * 10 - j * 2] = 3;
      }
    }
    return 0;
  });
  own.Add("out", OPENACLNN_OUTPUT, {ACL_FLOAT, {3, 4}, {10, -2}, 8}, out.data());
  Run(&own);
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr("1 of the 12 elements of out"));
  EXPECT_THAT(text, HasSubstr("where: bytes 104 to 107 of the 400"));
  std::vector<float> expected(100, 7);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 4; ++j) expected[8 + i * 10 - j * 2] = i == 2 && j == 1 ? 7 : 3;
  }
  EXPECT_EQ(out.Read(), expected) << "and what lies between is left alone";
}

TEST_F(OutputWatchTest, EachOutputByItsName) {
  const DeviceArray<float> first(8), second(8);
  OwnOperator own([](void* const* data, void*) {
    std::memset(data[0], 0, 32);
    return 0;
  });
  own.Add("first", OPENACLNN_OUTPUT, Dense(ACL_FLOAT, 8), first.data());
  own.Add("second", OPENACLNN_OUTPUT, Dense(ACL_FLOAT, 8), second.data());
  Run(&own);
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr("aclnnOwn has not written all of second\n"));
  EXPECT_EQ(Count(text, kReport), 1U);
}

TEST_F(OutputWatchTest, OfLargeOnesTheEnds) {
  constexpr int64_t kCount = int64_t{20} << 20;  // of 80 MiB
  EXPECT_EQ(Leave<float>(ACL_FLOAT, kCount, kCount / 2, kCount / 2 + 1), "");
  EXPECT_THAT(Leave<float>(ACL_FLOAT, kCount, kCount - 1, kCount), HasSubstr("1 of the 20971520"));
}

/// An output of 80 MiB in four rows with a gap behind each.
class LargeOutputTest : public OutputWatchTest {
 protected:
  static constexpr int64_t kRow = int64_t{5} << 20, kStride = kRow + 16;

  /// How often something is said of a task that leaves one element of the output of this name.
  size_t Reports(const char* name, int64_t row, int64_t column) const {
    OwnOperator own([=](void* const* data, void*) {
      auto* values = static_cast<float*>(data[0]);
      const float before = values[row * kStride + column];
      for (int64_t i = 0; i < 4; ++i) std::fill_n(values + i * kStride, kRow, 3.0F);
      values[row * kStride + column] = before;
      return 0;
    });
    own.Add(name, OPENACLNN_OUTPUT, {ACL_FLOAT, {4, kRow}, {kStride, 1}}, out_->data());
    Run(&own);
    return Count(Reported(), kReport);
  }
  void SetUp() override {
    OutputWatchTest::SetUp();
    out_.emplace(static_cast<size_t>(4 * kStride));
  }
  void TearDown() override {
    out_.reset();
    OutputWatchTest::TearDown();
  }

 private:
  std::optional<DeviceArray<float>> out_;
};

TEST_F(LargeOutputTest, TheEndsAreHalfOfWhatIsKept) {
  constexpr int64_t kEnd = int64_t{3} << 20;  // 32 MiB without a row
  EXPECT_EQ(Reports("first", 0, 0), 1U);
  EXPECT_EQ(Reports("last of the first 32 MiB", 1, kEnd - 1), 1U);
  EXPECT_EQ(Reports("behind them", 1, kEnd), 0U);
  EXPECT_EQ(Reports("before the last 32 MiB", 2, kRow - kEnd - 1), 0U);
  EXPECT_EQ(Reports("first of them", 2, kRow - kEnd), 1U);
  EXPECT_EQ(Reports("last", 3, kRow - 1), 1U);
}

/// What is said where nothing is written of one element in the middle of an output of 40 MiB
/// beside others.
class ManyOutputsTest : public OutputWatchTest {
 protected:
  std::string LeaveBeside(int64_t others, int64_t count) const {
    constexpr int64_t kLarge = int64_t{10} << 20;
    const DeviceArray<float> large(kLarge);
    std::deque<DeviceArray<float>> rest;
    OwnOperator own([=](void* const* data, void*) {
      auto* values = static_cast<float*>(data[0]);
      for (int64_t i = 0; i < kLarge; ++i) values[i] = i == kLarge / 2 ? values[i] : 3.0F;
      for (int64_t i = 1; i <= others; ++i) std::fill_n(static_cast<float*>(data[i]), count, 3.0F);
      return 0;
    });
    own.Add("large", OPENACLNN_OUTPUT, Dense(ACL_FLOAT, kLarge), large.data());
    for (int64_t i = 0; i < others; ++i) {
      const DeviceArray<float>& other = rest.emplace_back(static_cast<size_t>(count));
      own.Add("other", OPENACLNN_OUTPUT, Dense(ACL_FLOAT, count), other.data());
    }
    Run(&own);
    return Reported();
  }
};

TEST_F(ManyOutputsTest, SmallOnesLeaveTheirShare) {
  EXPECT_THAT(LeaveBeside(3, 100), HasSubstr("1 of the 10485760 elements of large"));
}
TEST_F(ManyOutputsTest, LargeOnesShareWhatACallMayKeep) {
  EXPECT_EQ(LeaveBeside(1, int64_t{10} << 20), "");
}

/// Operators that may leave their output alone, or read it, find there what was there.
class OldOutputTest : public OutputWatchTest {
 protected:
  void Expect(OpenaclnnUse use, bool alias) {
    const DeviceArray<float> out(8, 7.0F);
    std::vector<float> seen(8);
    OwnOperator own([&](void* const* data, void*) {
      std::memcpy(seen.data(), data[1], 32);
      return 0;
    });
    const DeviceArray<float> other(8);
    own.Add("self", OPENACLNN_INPUT, Dense(ACL_FLOAT, 8), alias ? out.data() : other.data());
    own.Add("out", OPENACLNN_OUTPUT, Dense(ACL_FLOAT, 8), out.data(), use, ~uint64_t{0});
    Run(&own);
    EXPECT_EQ(Reported(), "");
    EXPECT_EQ(seen, std::vector<float>(8, 7));
  }
};

TEST_F(OldOutputTest, OfAPart) { Expect(OPENACLNN_PART, false); }
TEST_F(OldOutputTest, Updated) { Expect(OPENACLNN_UPDATED, false); }
TEST_F(OldOutputTest, ThatIsAnInputToo) { Expect(OPENACLNN_ALL, true); }

/// Physical memory at reserved addresses of its own.
class Mapped {
 public:
  static constexpr size_t kBytes = size_t{2} << 20;

  explicit Mapped(aclrtDrvMemHandle memory) {
    EXPECT_EQ(aclrtReserveMemAddress(&address_, kBytes, 0, nullptr, 1), 0) << TakeMessage();
    EXPECT_EQ(aclrtMapMem(address_, kBytes, 0, memory, 0), 0) << TakeMessage();
  }
  Mapped(const Mapped&) = delete;
  ~Mapped() {
    EXPECT_EQ(aclrtUnmapMem(address_), 0) << TakeMessage();
    EXPECT_EQ(aclrtReleaseMemAddress(address_), 0) << TakeMessage();
  }

  void* address() const { return address_; }

 private:
  void* address_ = nullptr;
};

class MappedOutputTest : public OutputWatchTest {
 protected:
  void SetUp() override {
    OutputWatchTest::SetUp();
    aclrtPhysicalMemProp prop = {};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    ASSERT_EQ(aclrtMallocPhysical(&memory_, Mapped::kBytes, &prop, 0), 0) << TakeMessage();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    EXPECT_EQ(aclrtFreePhysical(memory_), 0);
    OutputWatchTest::TearDown();
  }

  aclrtDrvMemHandle memory_ = nullptr;
};

TEST_F(MappedOutputTest, ThatIsLeft) {
  {
    const Mapped other(memory_);  // was mapped there, and is no more
  }
  const Mapped out(memory_);
  OwnOperator own([](void* const*, void*) { return 0; });
  own.Add("out", OPENACLNN_OUTPUT, Dense(ACL_FLOAT, 8), static_cast<char*>(out.address()) + 64);
  Run(&own);
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr("8 of the 8 elements of out"));
  EXPECT_THAT(text, HasSubstr("where: bytes 64 to 95 of the 2097152"));
}

TEST_F(MappedOutputTest, ThatIsAnInputByAnotherAddress) {
  {
    const Mapped self(memory_), out(memory_);
    ASSERT_EQ(aclrtMemset(self.address(), 32, 5, 32), 0);
    std::vector<unsigned char> seen(32);
    OwnOperator own([&](void* const* data, void*) {
      std::memcpy(seen.data(), data[0], 32);
      return 0;
    });
    own.Add("self", OPENACLNN_INPUT, Dense(ACL_FLOAT, 8), self.address());
    own.Add("out", OPENACLNN_OUTPUT, Dense(ACL_FLOAT, 8), out.address());
    Run(&own);
    EXPECT_EQ(Reported(), "");
    EXPECT_EQ(seen, std::vector<unsigned char>(32, 5));
  }
}

TEST_F(OutputWatchTest, AFailureLeavesWhatWasThere) {
  std::vector<float> values(16);
  std::iota(values.begin(), values.end(), 1.0F);
  const DeviceArray<float> out(values);
  OwnOperator own([](void* const*, void*) { return 507035; });
  own.Add("out", OPENACLNN_OUTPUT, {ACL_FLOAT, {2, 4}, {8, 1}}, out.data());
  Run(&own);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 507035);
  (void)TakeMessage();
  EXPECT_EQ(Count(Reported(), kReport), 0U) << "the failure is another check's";
  EXPECT_EQ(out.Read(), values);
}

TEST_F(OutputWatchTest, ViewsOfTooManyPiecesAreNotWatched) {
  constexpr int64_t kMany = 5000;
  const DeviceArray<float> out(2 * kMany);
  OwnOperator own([](void* const*, void*) { return 0; });
  own.Add("out", OPENACLNN_OUTPUT, {ACL_FLOAT, {kMany}, {2}}, out.data());
  own.Add("none", OPENACLNN_OUTPUT, {ACL_FLOAT, {0}, {1}}, nullptr);
  Run(&own);
  EXPECT_EQ(Reported(), "");
}

class FastOutputTest : public WatchedTest {
 protected:
  FastOutputTest() : WatchedTest("fast") {}
};

TEST_F(FastOutputTest, NothingIsSaidWithoutFull) {
  const DeviceArray<float> out(8);
  OwnOperator own([](void* const*, void*) { return 0; });
  own.Add("out", OPENACLNN_OUTPUT, {ACL_FLOAT, {8}, {1}}, out.data());
  ASSERT_EQ(own.Launch(stream), 0);
  EXPECT_EQ(Reported(), "");
}

}  // namespace
}  // namespace openaclnn
