// SPDX-License-Identifier: Apache-2.0
// INT4 in its three forms, ends of the types, groups that are refused, and what is refused before.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kRows = 3, kWidth = 16;
constexpr int kInt8 = ACL_INT8, kInt4 = ACL_INT4, kInt32 = ACL_INT32;

Doubles Digits(const std::vector<std::byte>& bytes) {
  Doubles digits;
  for (const std::byte byte : bytes) {
    for (const int shift : {0, 4}) {
      const auto bits = (std::to_integer<int>(byte) >> shift) & 15;
      digits.push_back((bits ^ 8) - 8);
    }
  }
  return digits;
}

/// The API declares strings that it reads as char*.
char* Text(const char* text) { return const_cast<char*>(text); }

/// A tensor of INT4, two neighbours a byte.
struct Halves {
  explicit Halves(const Dims& dims)
      : bytes(Count(dims) / 2),
        handle({.dims = dims, .dtype = ACL_INT4, .data = bytes.address()}) {}
  static int64_t Count(const Dims& dims) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    return count;
  }
  DeviceBuffer bytes;
  TensorHandle handle;
};

TEST(Quant, Int4InEveryForm) {
  UnderEachSetting([&](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    Random random(7);
    const DeviceTensor x = Make(ACL_FLOAT, {kRows, kWidth}, RealValues(random, 48, -9, 9)),
                       scale = Make(ACL_FLOAT, {1}, {1.5}),
                       words(ACL_INT32, DenseLayout({kRows, kWidth / 8}));
    const Halves halves({kRows, kWidth});
    char* const round = Text("round");
    EXPECT_RUN(device, AscendQuant, x.handle(), scale.handle(), nullptr, false, round, kInt32,
               words.handle());
    EXPECT_RUN(device, AscendQuant, x.handle(), scale.handle(), nullptr, false, round, kInt4,
               halves.handle.get());
    const Doubles values = ValuesOf(x), got = Digits(halves.bytes.Read());
    EXPECT_EQ(Digits(words.Read()), got);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(got[i], std::clamp(std::nearbyint(values[i] * 1.5), -8.0, 7.0)) << values[i];
    }
    const DeviceTensor back(ACL_FLOAT16, DenseLayout({kRows, kWidth})),
        again(ACL_FLOAT16, DenseLayout({kRows, kWidth}));
    EXPECT_RUN(device, AscendAntiQuant, words.handle(), scale.handle(), nullptr, 1, false,
               back.handle());
    EXPECT_RUN(device, AscendAntiQuant, halves.handle.get(), scale.handle(), nullptr, 1, false,
               again.handle());
    EXPECT_EQ(ValuesOf(back), ValuesOf(again));
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(ValuesOf(back)[i], got[i] * 1.5);
  });
}

TEST(Quant, EndsAndTies) {
  const Device device;
  const DeviceTensor x = Make(ACL_FLOAT, {1, 8}, {0.5, 1.5, -0.5, -2.5, 127.5, -1e30, 1e30, NAN}),
                     one = Make(ACL_FLOAT, {1}, {1}), y(ACL_INT8, DenseLayout({1, 8}));
  const std::pair<const char*, Doubles> modes[] = {
      {"round", {0, 2, 0, -2, 127, -128, 127, 0}},
      {"floor", {0, 1, -1, -3, 127, -128, 127, 0}},
      {"ceil", {1, 2, 0, -2, 127, -128, 127, 0}},
      {"trunc", {0, 1, 0, -2, 127, -128, 127, 0}},
  };
  for (const auto& [mode, want] : modes) {
    EXPECT_RUN(device, AscendQuant, x.handle(), one.handle(), nullptr, false, Text(mode), kInt8,
               y.handle());
    EXPECT_EQ(ValuesOf(y), want) << mode;
  }
}

TEST(Quant, GroupsThatLeaveTheRows) {
  const Device device;
  const DeviceTensor x(ACL_FLOAT16, DenseLayout({kRows, kWidth})),
      smooth(ACL_FLOAT16, DenseLayout({2, kWidth})), y(ACL_INT8, DenseLayout({kRows, kWidth})),
      scale(ACL_FLOAT, DenseLayout({kRows}));
  const auto fails = [&](const Doubles& ends, const char* says) {
    const DeviceTensor index = Make(ACL_INT32, {2}, ends);
    const Outcome outcome = Call(device, aclnnDynamicQuantV2, [&](auto* size, auto** executor) {
      return aclnnDynamicQuantV2GetWorkspaceSize(x.handle(), smooth.handle(), index.handle(), kInt8,
                                                 y.handle(), scale.handle(), nullptr, size,
                                                 executor);
    });
    EXPECT_EQ(outcome.code, 507035);
    EXPECT_NE(outcome.message.find(says), std::string::npos) << outcome.message;
  };
  fails({2, 1}, "groupIndexOptional value 1 is 1, expected 2 to 3");
  fails({-1, 3}, "groupIndexOptional value 0 is -1, expected 0 to 3");
  fails({1, 4}, "groupIndexOptional value 1 is 4, expected 1 to 3");
  fails({1, 2}, "groupIndexOptional value 1 is 2, expected 3, the number of rows");
}

TEST(Quant, Refusals) {
  const Device device;
  const auto of = [](const Dims& dims, aclDataType dtype = ACL_FLOAT16) {
    return DeviceTensor(dtype, DenseLayout(dims));
  };
  const DeviceTensor x = of({kRows, kWidth}), scale = of({kWidth}), odd = of({kRows, 12}),
                     y = of({kRows, kWidth}, ACL_INT8), words = of({kRows, 2}, ACL_INT32);
  char* const round = Text("round");
  const auto refused = [&](const char* says, const DeviceTensor& from, const DeviceTensor& by,
                           const char* mode, int type, int axis, const DeviceTensor& to) {
    EXPECT_REFUSED(161002, says, AscendQuantV3, from.handle(), by.handle(), nullptr, false,
                   Text(mode), type, axis, to.handle());
  };
  refused("dstType value is 29, expected 2, the number of y's type INT8", x, scale, round, kInt4,
          -1, y);
  refused("roundMode value is 'even', expected round, floor, ceil or trunc", x, scale, "even",
          kInt8, -1, y);
  refused("axis value is 2, expected one of the last two dimensions of x, (3, 16)", x, scale, round,
          kInt8, 2, y);
  refused("scale shape is (16), expected 1 or 3 elements along dimension 0 of (3, 16)", x, scale,
          round, kInt8, -2, y);
  refused("scale dtype is FLOAT, expected", x, of({1}, ACL_FLOAT), round, kInt8, -1, y);
  refused("y shape is (3, 2), expected (3, 1)", of({kRows, 8}), of({1}), round, kInt32, -1, words);
  refused("y dtype is INT32, which holds 8 INT4, expected a multiple", odd, of({1}), round, kInt32,
          -1, words);
  EXPECT_REFUSED(161002, "dstTypeMax value is 15, expected 0", DynamicQuantV4, x.handle(), nullptr,
                 nullptr, kInt8, true, Text("pertensor"), 15.0F, y.handle(),
                 of({1}, ACL_FLOAT).handle(), nullptr);
  EXPECT_REFUSED(161001, "offsetOut value is null, expected a tensor where isSymmetrical is false",
                 DynamicQuantV3, x.handle(), nullptr, nullptr, kInt8, false, Text("pertensor"),
                 y.handle(), of({1}, ACL_FLOAT).handle(), nullptr);
  EXPECT_REFUSED(161002, "scaleOut shape is (16), expected (3)", DynamicQuant, x.handle(), nullptr,
                 y.handle(), of({kWidth}, ACL_FLOAT).handle());
  const TensorHandle strided({.dims = {kRows, 4},
                              .dtype = ACL_INT4,
                              .strides = Dims{8, 2},
                              .storage = Dims{32},
                              .data = y.data()});
  EXPECT_REFUSED(161002, "expected two neighbours of the last dimension in each byte of INT4",
                 AscendQuant, of({kRows, 4}).handle(), of({1}).handle(), nullptr, false, round,
                 kInt4, strided.get());
}

}  // namespace
}  // namespace openaclnn::test
