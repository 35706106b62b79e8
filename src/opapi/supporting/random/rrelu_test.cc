// SPDX-License-Identifier: Apache-2.0
// RReluWithNoise: slopes between the limits that are told, the same ones in place; refusals.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

TEST(RRelu, TellsItsSlopes) {
  const Device device;
  Random random(61);
  constexpr int64_t kCount = 5000;
  const Doubles values = RealValues(random, kCount);
  const DeviceTensor x = Of({kCount}, values), noise = Empty({kCount}), y = Empty({kCount}),
                     in_place = Of({kCount}, values), again = Empty({kCount});
  const ScalarHandle low(0.125), high(int64_t{1});
  EXPECT_RUN(device, RReluWithNoise, x.handle(), Handle(noise), low.get(), high.get(), true, 3, 4,
             Handle(y));
  EXPECT_RUN(device, InplaceRReluWithNoise, Handle(in_place), Handle(again), low.get(), high.get(),
             true, 3, 4);
  EXPECT_EQ(ValuesOf(in_place), ValuesOf(y));
  EXPECT_EQ(ValuesOf(again), ValuesOf(noise));
  const Doubles slopes = ValuesOf(noise), results = ValuesOf(y);
  double sum = 0, negative = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(results[i], values[i] * slopes[i]);
    if (values[i] > 0) {
      EXPECT_EQ(slopes[i], 1);
      continue;
    }
    EXPECT_TRUE(slopes[i] >= 0.125 && slopes[i] < 1);
    sum += slopes[i];
    ++negative;
  }
  EXPECT_NEAR(sum / negative, 0.5625, 0.03);
}

TEST(RRelu, HasTheMiddleWithoutTraining) {
  const Device device;
  const DeviceTensor x = Of({4}, {-2, 0, NAN, 3}), noise = Of({4}, {9, 8, 7, 6}), y = Empty({4});
  EXPECT_RUN(device, RReluWithNoise, x.handle(), Handle(noise), ScalarHandle(0.25).get(),
             ScalarHandle(0.75).get(), false, 0, 0, Handle(y));
  ExpectNear(ValuesOf(y), {-1, 0, NAN, 3}, ACL_DOUBLE);
  EXPECT_EQ(ValuesOf(noise), (Doubles{9, 8, 7, 6}));
}

TEST(RRelu, Refusals) {
  const Device device;
  const DeviceTensor x = Empty({4}), noise = Empty({3}), half(ACL_FLOAT16, DenseLayout({4}));
  const ScalarHandle low(0.5), high(0.25);
  EXPECT_REFUSED(161002, "lower value is 0.5, expected at most upper, 0.25", RReluWithNoise,
                 x.handle(), Handle(x), low.get(), high.get(), true, 0, 0, Handle(x));
  EXPECT_REFUSED(161002, "noise shape is (3), expected that of self, (4)", RReluWithNoise,
                 x.handle(), Handle(noise), high.get(), low.get(), true, 0, 0, Handle(x));
  EXPECT_REFUSED(161002, "out dtype is FLOAT16, expected that of self, DOUBLE", RReluWithNoise,
                 x.handle(), Handle(x), high.get(), low.get(), true, 0, 0, Handle(half));
  EXPECT_REFUSED(161002, "noise dtype is FLOAT16, expected that of selfRef, DOUBLE",
                 InplaceRReluWithNoise, Handle(x), Handle(half), high.get(), low.get(), true, 0, 0);
}

}  // namespace
}  // namespace openaclnn::test
