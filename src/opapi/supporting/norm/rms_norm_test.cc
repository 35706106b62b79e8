// SPDX-License-Identifier: Apache-2.0
// The gradient of RmsNorm against differences of its formula, over rows of many lengths.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// Rows of w.size() elements.
Doubles NormalizedByFormula(const Doubles& x, const Doubles& w) {
  Doubles y;
  const size_t n = w.size();
  for (size_t row = 0; row < x.size() / n; ++row) {
    double squares = 0;
    for (size_t i = 0; i < n; ++i) squares += std::pow(x[row * n + i], 2);
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
    for (size_t i = 0; i < n; ++i) y.push_back(x[row * n + i] * rstd * w[i]);
  }
  return y;
}

TEST(RmsNorm, Gradient) {
  const Device device;
  Random random(73);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    SCOPED_TRACE(dtype);
    const DeviceTensor x = Make(dtype, {5, 3, 4}, RealValues(random, 60), random),
                       w = Make(dtype, {3, 4}, RealValues(random, 12), random),
                       g = Make(dtype, {5, 3, 4}, RealValues(random, 60), random);
    const DeviceTensor y(dtype, DenseLayout({5, 3, 4})),
        rstd = EmptyFloats({5, 1, 1}), dx(dtype, RandomLayout(random, {5, 3, 4}, false)),
        dw(ACL_FLOAT, RandomLayout(random, {3, 4}, false));
    EXPECT_RUN(device, RmsNorm, x.handle(), w.handle(), 1e-5, Handle(y), Handle(rstd));
    EXPECT_RUN(device, RmsNormGrad, g.handle(), x.handle(), rstd.handle(), w.handle(), Handle(dx),
               Handle(dw));
    const Doubles xs = ValuesOf(x), ws = ValuesOf(w), gs = ValuesOf(g);
    const auto by_x = [&](const Doubles& at) { return NormalizedByFormula(at, ws); };
    const auto by_w = [&](const Doubles& at) { return NormalizedByFormula(xs, at); };
    ExpectNear(ValuesOf(dx), Slopes(xs, gs, by_x), dtype, 0, 2e-6);
    ExpectNear(ValuesOf(dw), Slopes(ws, gs, by_w), ACL_FLOAT, 0, 2e-6);
    EXPECT_EQ(dx.Damage(), "");
    EXPECT_EQ(dw.Damage(), "");
  }
}

// A row's gradient does not change if all of dy is parallel to x: y does not depend on x's length.
TEST(RmsNorm, GradientAlongTheOperandIsNone) {
  const Device device;
  Random random(74);
  for (const int64_t n : {1, 16, 1025, 4097}) {
    SCOPED_TRACE(n);
    const Doubles x = Held(ACL_FLOAT, RealValues(random, 3 * n));
    const DeviceTensor tx = Floats({3, n}, x), w = Floats({n}, Doubles(static_cast<size_t>(n), 1)),
                       y = EmptyFloats({3, n}), rstd = EmptyFloats({3}), dx = EmptyFloats({3, n}),
                       dw = EmptyFloats({n});
    EXPECT_RUN(device, RmsNorm, tx.handle(), w.handle(), 0.0, Handle(y), Handle(rstd));
    EXPECT_RUN(device, RmsNormGrad, tx.handle(), tx.handle(), rstd.handle(), w.handle(), Handle(dx),
               Handle(dw));
    for (const double each : ValuesOf(dx)) EXPECT_NEAR(each, 0, 1e-6);
  }
}

TEST(RmsNorm, NeitherStridesNorSettingsChangeABitOfTheGradient) {
  constexpr int64_t kRows = 130, kWidth = 257;
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16}) {
    std::vector<std::vector<std::byte>> first;  // results under the first setting
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      SCOPED_TRACE(testing::Message() << setting << ", " << dtype);
      Random random(75);
      const Layout columns{{kRows, kWidth}, {1, kRows + 1}, 0, (kRows + 1) * kWidth};
      const Doubles x = RealValues(random, kRows * kWidth), g = RealValues(random, kRows * kWidth);
      const DeviceTensor w = Make(dtype, {kWidth}, RealValues(random, kWidth)),
                         rstd = Floats({kRows}, RealValues(random, kRows, 0.5, 2));
      for (const Layout& layout : {DenseLayout({kRows, kWidth}), columns}) {
        DeviceTensor tx(dtype, layout), tg(dtype, layout);
        const DeviceTensor dx(dtype, layout), dw = EmptyFloats({kWidth});
        tx.Write(ToBytes(dtype, x));
        tg.Write(ToBytes(dtype, g));
        EXPECT_RUN(device, RmsNormGrad, tg.handle(), tx.handle(), rstd.handle(), w.handle(),
                   Handle(dx), Handle(dw));
        if (first.empty()) first = {dx.Read(), dw.Read()};
        EXPECT_TRUE(dx.Read() == first[0]) << "other bits of dx than before";
        EXPECT_TRUE(dw.Read() == first[1]) << "other bits of dgamma than before";
      }
    });
  }
}

TEST(RmsNorm, GradientRefusesShapesAndTypes) {
  const Device device;
  const DeviceTensor x = EmptyFloats({2, 3}), w = EmptyFloats({3}), rstd = EmptyFloats({2, 1}),
                     wide = EmptyFloats({2, 4}), narrow = EmptyFloats({2}),
                     half(ACL_FLOAT16, DenseLayout({3}));
  EXPECT_REFUSED(161002, "dy shape is", RmsNormGrad, wide.handle(), x.handle(), rstd.handle(),
                 w.handle(), Handle(x), Handle(w));
  EXPECT_REFUSED(161002, "gamma shape is", RmsNormGrad, x.handle(), x.handle(), rstd.handle(),
                 narrow.handle(), Handle(x), Handle(narrow));
  EXPECT_REFUSED(161002, "rstd shape is", RmsNormGrad, x.handle(), x.handle(), w.handle(),
                 w.handle(), Handle(x), Handle(w));
  EXPECT_REFUSED(161002, "dgammaOut shape is", RmsNormGrad, x.handle(), x.handle(), rstd.handle(),
                 w.handle(), Handle(x), Handle(narrow));
  EXPECT_REFUSED(161002, "dgammaOut dtype is", RmsNormGrad, x.handle(), x.handle(), rstd.handle(),
                 w.handle(), Handle(x), Handle(half));
}

}  // namespace
}  // namespace openaclnn::test
