// SPDX-License-Identifier: Apache-2.0
// Gates and their gradient.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(Activation, GatesAndTheirGradient) {
  const Device device;
  Random random(45);
  const Doubles x = RealValues(random, 12), g = RealValues(random, 6);
  const auto forward = [&](const Doubles& at) {
    const DeviceTensor self = Of({2, 6}, at), out = Empty({2, 3});
    EXPECT_RUN(device, Glu, self.handle(), 1, Handle(out));
    return ValuesOf(out);
  };
  const DeviceTensor self = Of({2, 6}, x), upstream = Of({2, 3}, g), out = Empty({2, 6}),
                     odd = Empty({2, 5});
  EXPECT_NEAR(forward(x)[4], x[7] / (1 + std::exp(-x[10])), 1e-12);
  EXPECT_RUN(device, GluBackward, upstream.handle(), self.handle(), 1, Handle(out));
  ExpectNear(ValuesOf(out), Slopes(x, g, forward), ACL_DOUBLE, 1e-6, 1e-8);
  EXPECT_REFUSED(161002, "expected an even length", Glu, odd.handle(), 1, Handle(out));
}

TEST(Activation, SoftshrinkByNoNegativeNumber) {
  const Device device;
  const DeviceTensor self = Of({3}, {-2, 0.25, 2}), out = Empty({3});
  const ScalarHandle half(0.5), negative(-0.5);
  EXPECT_RUN(device, Softshrink, self.handle(), half.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{-1.5, 0, 1.5}));
  EXPECT_REFUSED(161002, "lambd value is -0.5, expected one that is not negative", Softshrink,
                 self.handle(), negative.get(), Handle(out));
}

}  // namespace
}  // namespace openaclnn::test
