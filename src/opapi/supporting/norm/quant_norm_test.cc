// SPDX-License-Identifier: Apache-2.0
// RmsNorm whose results are made whole: INT4, results that are not wanted, and what is refused.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kRows = 3, kWidth = 16;

struct Given {
  explicit Given(Random& random)
      : x1(Make(ACL_FLOAT16, {kRows, kWidth}, RealValues(random, 48))),
        x2(Make(ACL_FLOAT16, {kRows, kWidth}, RealValues(random, 48))),
        gamma(Make(ACL_FLOAT16, {kWidth}, RealValues(random, 16))),
        sum(ACL_FLOAT16, DenseLayout({kRows, kWidth})) {}
  DeviceTensor x1, x2, gamma, sum;
};

TEST(QuantNorm, Int4IsInt8OfASmallerScale) {
  UnderEachSetting([&](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    Random random(9);
    const Given given(random);
    const DeviceTensor words(ACL_INT32, DenseLayout({kRows, kWidth / 8})),
        whole(ACL_INT8, DenseLayout({kRows, kWidth})), none(ACL_INT32, DenseLayout({})),
        scale(ACL_FLOAT, DenseLayout({kRows})), scales(ACL_FLOAT, DenseLayout({kRows})),
        no_scale(ACL_FLOAT, DenseLayout({}));
    const auto run = [&](const DeviceTensor& y, const DeviceTensor& own) {
      EXPECT_RUN(device, AddRmsNormDynamicQuantV2, given.x1.handle(), given.x2.handle(),
                 given.gamma.handle(), nullptr, nullptr, nullptr, 1e-6, nullptr, y.handle(),
                 none.handle(), given.sum.handle(), own.handle(), no_scale.handle());
    };
    run(words, scale);
    run(whole, scales);
    const Doubles four = ValuesOf(scale), eight = ValuesOf(scales), numbers = ValuesOf(whole);
    const auto bytes = words.Read();
    for (size_t row = 0; row < kRows; ++row) EXPECT_NEAR(four[row] * 7, eight[row] * 127, 1e-5);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto bits = std::to_integer<int>(bytes[i / 2]) >> (i % 2 * 4) & 15;
      EXPECT_NEAR((bits ^ 8) - 8, numbers[i] * 7 / 127, 0.5 + 0.03) << i;
    }
  });
}

TEST(QuantNorm, Refusals) {
  const Device device;
  Random random(1);
  const Given of(random);
  const auto make = [](const Dims& dims, aclDataType dtype = ACL_FLOAT) {
    return DeviceTensor(dtype, DenseLayout(dims));
  };
  const DeviceTensor scale = make({kWidth}), y = make({kRows, kWidth}, ACL_INT8),
                     rows = make({kRows}), points = make({kWidth}, ACL_INT32);
  const auto refused = [&](const char* says, const DeviceTensor& gamma, const DeviceTensor& by,
                           const aclTensor* second_points, int64_t axis, const DeviceTensor& to) {
    EXPECT_REFUSED(161002, says, AddRmsNormQuant, of.x1.handle(), of.x2.handle(), gamma.handle(),
                   by.handle(), nullptr, nullptr, second_points, axis, 1e-6, true, Handle(to),
                   Handle(y), Handle(of.sum));
  };
  refused("gamma shape is (3), expected the last dimensions of x1, (3, 16)",
          make({kRows}, ACL_FLOAT16), scale, nullptr, -1, y);
  refused("gamma dtype is BFLOAT16", make({kWidth}, ACL_BF16), scale, nullptr, -1, y);
  refused("scales1 shape is (3), expected (16)", of.gamma, rows, nullptr, -1, y);
  refused("axis value is 0, expected -1, the last dimension of x1", of.gamma, scale, nullptr, 0, y);
  refused("y1Out shape is (3), expected (3, 16)", of.gamma, scale, nullptr, -1,
          make({kRows}, ACL_INT8));
  refused("zeroPoints2Optional value is a tensor, expected null without scales2Optional", of.gamma,
          scale, points.handle(), -1, y);
  const auto masked = [&](const char* says, const FlagsHandle& mask) {
    EXPECT_REFUSED(161002, says, AddRmsNormDynamicQuantV2, of.x1.handle(), of.x2.handle(),
                   of.gamma.handle(), nullptr, nullptr, nullptr, 1e-6, mask.get(), y.handle(),
                   y.handle(), of.sum.handle(), rows.handle(), rows.handle());
  };
  masked("outputMaskOptional size is 1, expected 0 or 2", FlagsHandle({true}));
  masked("outputMaskOptional value is false for both, expected an output",
         FlagsHandle({false, false}));
}

}  // namespace
}  // namespace openaclnn::test
