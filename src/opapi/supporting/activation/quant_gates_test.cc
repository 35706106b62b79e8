// SPDX-License-Identifier: Apache-2.0
// Gates whose results are made whole: rows behind the groups, INT4, and what is refused.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kRows = 5, kWidth = 16;

char kDynamic[] = "dynamic", kStatic[] = "static";

TEST(QuantGates, RowsBehindTheGroupsAreLeft) {
  UnderEachSetting([&](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    Random random(3);
    const DeviceTensor x = Make(ACL_FLOAT16, {kRows, 2 * kWidth}, RealValues(random, 160)),
                       lengths = Make(ACL_INT64, {2}, {1, 2}),
                       y = Make(ACL_INT8, {kRows, kWidth}, Doubles(80, 99)),
                       scale = Make(ACL_FLOAT, {kRows}, Doubles(5, 99)),
                       whole(ACL_INT8, DenseLayout({kRows, kWidth})),
                       scales(ACL_FLOAT, DenseLayout({kRows}));
    EXPECT_RUN(device, DequantSwigluQuant, x.handle(), nullptr, nullptr, nullptr, nullptr, nullptr,
               lengths.handle(), true, kDynamic, y.handle(), scale.handle());
    EXPECT_RUN(device, DequantSwigluQuant, x.handle(), nullptr, nullptr, nullptr, nullptr, nullptr,
               nullptr, true, kDynamic, whole.handle(), scales.handle());
    const Doubles got = ValuesOf(y), want = ValuesOf(whole);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i < 48 ? want[i] : 99) << i;
    EXPECT_EQ(ValuesOf(scale)[2], ValuesOf(scales)[2]);
    EXPECT_EQ(ValuesOf(scale)[3], 99);
  });
}

// torch-npu passes INT8 of half the width for INT4.
TEST(QuantGates, Int4InBytes) {
  const Device device;
  Random random(4);
  const DeviceTensor x = Make(ACL_FLOAT, {kRows, 2 * kWidth}, RealValues(random, 160)),
                     scale(ACL_FLOAT, DenseLayout({kRows})),
                     bytes(ACL_INT8, DenseLayout({kRows, kWidth / 2}));
  const TensorHandle halves({.dims = {kRows, kWidth}, .dtype = ACL_INT4, .data = bytes.data()});
  const auto run = [&](const aclTensor* y) {
    EXPECT_RUN(device, SwiGluQuantV2, x.handle(), nullptr, nullptr, nullptr, false, kDynamic, 0,
               ACL_INT4, y, scale.handle());
    return bytes.Read();
  };
  const auto as_bytes = run(bytes.handle());
  EXPECT_EQ(run(halves.get()), as_bytes);
  const Doubles values = ValuesOf(x), scales = ValuesOf(scale);
  for (size_t i = 0; i < 80; ++i) {
    const size_t row = i / 16, column = i % 16;
    const double gate = values[row * 32 + 16 + column], passed = values[row * 32 + column];
    const double want = gate / (1 + std::exp(-gate)) * passed * scales[row];
    const auto bits = std::to_integer<int>(as_bytes[i / 2]) >> (i % 2 * 4) & 15;
    EXPECT_NEAR((bits ^ 8) - 8, want, 0.5 + 1e-4) << i;
  }
}

TEST(QuantGates, Refusals) {
  const Device device;
  const auto of = [](const Dims& dims, aclDataType dtype = ACL_FLOAT) {
    return DeviceTensor(dtype, DenseLayout(dims));
  };
  const DeviceTensor x = of({kRows, 2 * kWidth}, ACL_FLOAT16), y = of({kRows, kWidth}, ACL_INT8),
                     scale = of({kRows}), one = of({1}), sums = of({kRows, 2 * kWidth}, ACL_INT32);
  const auto refused = [&](const char* says, const DeviceTensor& from, const aclTensor* columns,
                           const aclTensor* rows, const aclTensor* factors, char* mode,
                           const DeviceTensor& to) {
    EXPECT_REFUSED(161002, says, DequantSwigluQuant, from.handle(), columns, rows, nullptr, factors,
                   nullptr, nullptr, true, mode, to.handle(), scale.handle());
  };
  refused("activationScaleOptional value is a tensor, expected null unless x is INT32", x, nullptr,
          scale.handle(), nullptr, kStatic, y);
  refused("weightScaleOptional value is null, expected a tensor where x is INT32", sums, nullptr,
          nullptr, nullptr, kStatic, y);
  refused("quantScaleOptional shape is (5), expected 1 or 1 rows of 16 elements or of one", x,
          nullptr, nullptr, scale.handle(), kStatic, y);
  refused("yOut shape is (5, 16), expected (5, 15)", of({kRows, 30}, ACL_FLOAT16), nullptr, nullptr,
          nullptr, kStatic, y);
  refused("x shape is (5, 31), expected an even length", of({kRows, 31}, ACL_FLOAT16), nullptr,
          nullptr, nullptr, kStatic, y);
  char other[] = "both";
  refused("quantModeOptional value is 'both', expected static or dynamic", x, nullptr, nullptr,
          nullptr, other, y);
  char rint[] = "rint";
  EXPECT_REFUSED(161002, "activateDim value is 0, expected the last dimension of x",
                 DequantSwigluQuantV2, x.handle(), nullptr, nullptr, nullptr, nullptr, nullptr,
                 nullptr, true, kStatic, ACL_INT8, rint, 0, 0, 7.0, 1.0, 0.0, y.handle(),
                 scale.handle());
  EXPECT_REFUSED(161002, "clampLimit value is 0, expected one above 0", DequantSwigluQuantV2,
                 x.handle(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, true, kStatic,
                 ACL_INT8, rint, -1, 1, 0.0, 1.0, 0.0, y.handle(), scale.handle());
}

}  // namespace
}  // namespace openaclnn::test
