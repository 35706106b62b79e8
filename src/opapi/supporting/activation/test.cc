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
  const DeviceTensor self = Floats({3}, {-2, 0.25, 2}), out = EmptyFloats({3});
  const ScalarHandle half(0.5), negative(-0.5);
  EXPECT_RUN(device, Softshrink, self.handle(), half.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{-1.5, 0, 1.5}));
  EXPECT_REFUSED(161002, "lambd value is -0.5, expected one that is not negative", Softshrink,
                 self.handle(), negative.get(), Handle(out));
}

// aclnnGelu has the formula with tanh; aclnnGeluV2 both.
TEST(Activation, GeluIsTheApproximationByTanh) {
  const Device device;
  Random random(46);
  const Doubles x = {-3, -1, -0.25, 0, 0.5, 2};
  Doubles wanted;
  for (const double a : x) {
    const double inner = std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a);
    wanted.push_back(a / 2 * (1 + std::tanh(inner)));
  }
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    const DeviceTensor self = Make(dtype, {6}, x, random),
                       out(dtype, RandomLayout(random, {6}, false));
    EXPECT_RUN(device, Gelu, self.handle(), Handle(out));
    // In float 1 + tanh loses digits where it is small.
    ExpectNear(ValuesOf(out), wanted, dtype, 0, 1e-6);
  }
}

// PyTorch hands the bounds on as doubles.
TEST(Activation, HardtanhOfIntegers) {
  const Device device;
  const DeviceTensor self = Make(ACL_INT64, {4}, {-7, -1, 2, 9});
  const ScalarHandle low(-1.5), high(2.5);
  EXPECT_RUN(device, Hardtanh, self.handle(), low.get(), high.get(), Handle(self));
  EXPECT_EQ(ValuesOf(self), (Doubles{-1, -1, 2, 2}));
  EXPECT_RUN(device, InplaceHardtanh, Handle(self), low.get(), low.get());
  EXPECT_EQ(ValuesOf(self), (Doubles{-1, -1, -1, -1}));
}

}  // namespace
}  // namespace openaclnn::test
