// SPDX-License-Identifier: Apache-2.0
// Random numbers stay in the interval that was asked for, in every type; refusals of those that
// cannot.
#include "common/text.h"
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kCount = 40000, kLongest = INT64_MAX;

/// None is outside of [from, to). Tells the least and the greatest.
template <class T>
std::pair<double, double> ExpectInside(const Doubles& values, T from, T to) {
  for (const double value : values) {
    const auto exact = static_cast<long double>(value);
    EXPECT_TRUE(from <= exact && exact < to) << value << " in " << from << ", " << to;
    if (::testing::Test::HasFailure()) break;
  }
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  return {*least, *greatest};
}

TEST(Intervals, OfIntegersThatATypeDoesNotHold) {
  const Device device;
  constexpr int64_t kDigits = int64_t{1} << 53;
  const struct {
    aclDataType dtype;
    int64_t from, to;
    double least, greatest;  // that the type has; drawn where there are few
  } rows[] = {{ACL_FLOAT16, -42, 32752, -42, 32736},
              {ACL_FLOAT16, -65504, 65505, -65504, 65504},
              {ACL_FLOAT16, 2049, 2053, 2050, 2052},
              {ACL_FLOAT16, -2051, -2047, -2050, -2048},
              {ACL_BF16, 0, 1000, 0, 996},
              {ACL_BF16, 257, 263, 258, 262},
              {ACL_FLOAT, (1 << 24) - 1, (1 << 24) + 6, (1 << 24) - 1, (1 << 24) + 4},
              {ACL_FLOAT, INT64_MIN, kLongest, -0x1p63, 0x1.fffffep62},
              {ACL_DOUBLE, kDigits + 1, kDigits + 6, 0x1p53 + 2, 0x1p53 + 4},
              {ACL_DOUBLE, -kDigits - 5, -kDigits, -0x1p53 - 4, -0x1p53 - 2},
              {ACL_DOUBLE, INT64_MIN, kLongest, -0x1p63, 0x1.fffffffffffffp62},
              {ACL_INT8, -128, 128, -128, 127},
              {ACL_BOOL, 0, 2, 0, 1}};
  for (const auto& row : rows) {
    const DeviceTensor out(row.dtype, DenseLayout({kCount}));
    EXPECT_RUN(device, InplaceRandom, Handle(out), row.from, row.to, 3, 4);
    const auto [least, greatest] = ExpectInside(ValuesOf(out), row.from, row.to);
    if (static_cast<uint64_t>(row.to) - static_cast<uint64_t>(row.from) > 300) continue;
    EXPECT_EQ(least, row.least) << row.from;
    EXPECT_EQ(greatest, row.greatest) << row.from;
  }
}

TEST(Intervals, OfIntegersOutsideOfAType) {
  const Device device;
  const DeviceTensor half(ACL_FLOAT16, DenseLayout({2})), byte(ACL_UINT8, DenseLayout({2})),
      small(ACL_INT8, DenseLayout({2})), truth(ACL_BOOL, DenseLayout({2}));
  const auto refused = [](const DeviceTensor& out, int64_t from, int64_t to, const char* says) {
    EXPECT_REFUSED(161002, says, InplaceRandom, Handle(out), from, to, 3, 4);
  };
  refused(small, 0, 129, "to value is 129, expected at most 128, behind the greatest of INT8");
  refused(byte, -1, 5, "from value is -1, expected at least 0, the least of UINT8");
  refused(truth, 0, 3, "to value is 3, expected at most 2");
  refused(half, 0, 70000, "to value is 70000, expected at most 65505");
  refused(half, 2049, 2050, "expected a number of FLOAT16 that is less and at least from, 2049");
  refused(small, 4, 4, "from value is 4, expected less than to, 4");
  refused(small, 4, INT64_MIN, "from value is 4, expected less than to");
}

TEST(Intervals, OfRealsThatRoundingWouldLeave) {
  const Device device;
  const std::pair<double, double> rows[] = {{0, 1},       {0.3, 0.7}, {1, 1.01},
                                            {-3, 7},      {100, 101}, {-101, -99},
                                            {0, 0x1p-20}, {-0.1, 0},  {-60000, 65504}};
  for (const aclDataType dtype : {ACL_FLOAT16, ACL_BF16, ACL_FLOAT, ACL_DOUBLE}) {
    for (const auto& [from, to] : rows) {
      const DeviceTensor out(dtype, DenseLayout({kCount}));
      EXPECT_RUN(device, InplaceUniform, Handle(out), from, to, 3, 4);
      ExpectInside<long double>(ValuesOf(out), from, to);
    }
  }
}

TEST(Intervals, OfRealsWithoutANumber) {
  const Device device;
  const DeviceTensor half(ACL_FLOAT16, DenseLayout({100})), all(ACL_DOUBLE, DenseLayout({2}));
  EXPECT_RUN(device, InplaceUniform, Handle(half), 1.0001, 1.0002, 3, 4);
  EXPECT_EQ(ValuesOf(half), Doubles(100, 1.0));
  EXPECT_RUN(device, InplaceUniform, Handle(half), 0.5, 0.5, 3, 4);
  EXPECT_EQ(ValuesOf(half), Doubles(100, 0.5));
  EXPECT_REFUSED(161002, "to value is 65536, expected -65504 to 65504, the range of FLOAT16",
                 InplaceUniform, Handle(half), 0, 65536, 3, 4);
  EXPECT_REFUSED(161002, "from value is -inf, expected", InplaceUniform, Handle(half), -INFINITY, 1,
                 3, 4);
  EXPECT_REFUSED(161002, "above from, -1.6e+308", InplaceUniform, Handle(all), -1.6e308, 1.6e308, 3,
                 4);
}

TEST(Intervals, OfSlopes) {
  const Device device;
  const ScalarHandle low(100.0), high(101.0);
  for (const aclDataType dtype : {ACL_FLOAT16, ACL_BF16, ACL_FLOAT}) {
    const DeviceTensor x = Make(dtype, {kCount}, Doubles(kCount, -1)),
                       noise(dtype, DenseLayout({kCount})), out(dtype, DenseLayout({kCount}));
    EXPECT_RUN(device, RReluWithNoise, x.handle(), Handle(noise), low.get(), high.get(), true, 3, 4,
               Handle(out));
    ExpectInside<long double>(ValuesOf(noise), 100, 101);
  }
  // Beyond the range of the type.
  const ScalarHandle far(1e6);
  const DeviceTensor x = Make(ACL_FLOAT16, {kCount}, Doubles(kCount, -1)),
                     noise(ACL_FLOAT16, DenseLayout({kCount})), out(ACL_FLOAT16, x.layout());
  EXPECT_RUN(device, RReluWithNoise, x.handle(), Handle(noise), low.get(), far.get(), true, 3, 4,
             Handle(out));
  ExpectInside<long double>(ValuesOf(noise), 100, 65505);
}

TEST(Intervals, OfPermutations) {
  const Device device;
  for (const auto& [dtype, most] : {std::pair(ACL_INT8, 128), std::pair(ACL_UINT8, 256),
                                    std::pair(ACL_BF16, 257), std::pair(ACL_FLOAT16, 2049)}) {
    const DeviceTensor out(dtype, DenseLayout({most})), more(dtype, DenseLayout({most + 1}));
    EXPECT_RUN(device, Randperm, most, 3, 4, Handle(out));
    Doubles drawn = ValuesOf(out);
    std::sort(drawn.begin(), drawn.end());
    for (int i = 0; i < most; ++i) ASSERT_EQ(drawn[static_cast<size_t>(i)], i);
    EXPECT_REFUSED(161002, Concat("n value is ", most + 1, ", expected at most ", most), Randperm,
                   most + 1, 3, 4, Handle(more));
  }
}

}  // namespace
}  // namespace openaclnn::test
