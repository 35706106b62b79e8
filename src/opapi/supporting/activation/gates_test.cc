// SPDX-License-Identifier: Apache-2.0
// Gradients of SwiGlu and GeGluV3 against differences of their formulas.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// Element i of the left half of (2, 6), and of the right one.
double Left(const Doubles& x, size_t i) { return x[i / 3 * 6 + i % 3]; }
double Right(const Doubles& x, size_t i) { return x[i / 3 * 6 + 3 + i % 3]; }

double Gelu(double a, bool by_tanh) {
  if (!by_tanh) return a / 2 * (1 + std::erf(a / std::sqrt(2)));
  return a / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a)));
}

TEST(Gates, GradientOfSwiGlu) {
  const Device device;
  Random random(71);
  const Doubles x = RealValues(random, 12), g = RealValues(random, 6);
  const auto forward = [](const Doubles& at) {
    Doubles y;
    for (size_t i = 0; i < 6; ++i) {
      y.push_back(Left(at, i) / (1 + std::exp(-Left(at, i))) * Right(at, i));
    }
    return y;
  };
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    SCOPED_TRACE(dtype);
    const DeviceTensor tx = Make(dtype, {2, 6}, x, random), tg = Make(dtype, {2, 3}, g, random),
                       out(dtype, RandomLayout(random, {2, 6}, false));
    EXPECT_RUN(device, SwiGluGrad, tg.handle(), tx.handle(), -1, Handle(out));
    ExpectNear(ValuesOf(out), Slopes(ValuesOf(tx), ValuesOf(tg), forward), dtype, 0, 1e-6);
    EXPECT_EQ(out.Damage(), "");
  }
}

TEST(Gates, GradientOfGeGlu) {
  const Device device;
  Random random(72);
  const Doubles x = RealValues(random, 12), g = RealValues(random, 6);
  for (const bool left : {false, true}) {
    for (const bool by_tanh : {false, true}) {
      SCOPED_TRACE(testing::Message() << "left " << left << ", by tanh " << by_tanh);
      const auto forward = [&](const Doubles& at) {
        Doubles y;
        for (size_t i = 0; i < 6; ++i) {
          y.push_back(left ? Right(at, i) * Gelu(Left(at, i), by_tanh)
                           : Left(at, i) * Gelu(Right(at, i), by_tanh));
        }
        return y;
      };
      for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
        SCOPED_TRACE(dtype);
        const DeviceTensor tx = Make(dtype, {2, 6}, x, random), tg = Make(dtype, {2, 3}, g, random),
                           y(dtype, DenseLayout({2, 3})), gelu(dtype, DenseLayout({2, 3})),
                           dx(dtype, RandomLayout(random, {2, 6}, false));
        EXPECT_RUN(device, GeGluV3, tx.handle(), 1, by_tanh, left, Handle(y), Handle(gelu));
        EXPECT_RUN(device, GeGluV3Backward, tg.handle(), tx.handle(), gelu.handle(), 1, by_tanh,
                   left, Handle(dx));
        ExpectNear(ValuesOf(dx), Slopes(ValuesOf(tx), ValuesOf(tg), forward), dtype, 0,
                   dtype == ACL_FLOAT ? 1e-6 : 2e-2);
        EXPECT_EQ(dx.Damage(), "");
      }
    }
  }
}

// The half that is passed on gets what the forward stored, not Gelu anew.
TEST(Gates, GeGluTakesTheStoredActivation) {
  const Device device;
  const DeviceTensor x = Floats({1, 2}, {3, 1}), g = Floats({1, 1}, {2}),
                     gelu = Floats({1, 1}, {5}), dx = EmptyFloats({1, 2});
  EXPECT_RUN(device, GeGluV3Backward, g.handle(), x.handle(), gelu.handle(), -1, 1, false,
             Handle(dx));
  EXPECT_EQ(ValuesOf(dx)[0], 10);
}

TEST(Gates, GradientsRefuseShapes) {
  const Device device;
  const DeviceTensor x = EmptyFloats({2, 6}), half = EmptyFloats({2, 3}), odd = EmptyFloats({2, 5}),
                     wide = EmptyFloats({2, 4});
  EXPECT_REFUSED(161002, "expected an even length", SwiGluGrad, half.handle(), odd.handle(), 1,
                 Handle(odd));
  EXPECT_REFUSED(161002, "yGrad shape is", SwiGluGrad, wide.handle(), x.handle(), 1, Handle(x));
  EXPECT_REFUSED(161002, "dim value is 2", SwiGluGrad, half.handle(), x.handle(), 2, Handle(x));
  EXPECT_REFUSED(161002, "gelu shape is", GeGluV3Backward, half.handle(), x.handle(), wide.handle(),
                 1, 1, false, Handle(x));
  EXPECT_REFUSED(161002, "gradInput shape is", GeGluV3Backward, half.handle(), x.handle(),
                 half.handle(), 1, 1, false, Handle(half));
  EXPECT_REFUSED(161002, "approximate value is 2", GeGluV3Backward, half.handle(), x.handle(),
                 half.handle(), 1, 2, false, Handle(x));
}

}  // namespace
}  // namespace openaclnn::test
