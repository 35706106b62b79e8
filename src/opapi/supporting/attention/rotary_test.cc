// SPDX-License-Identifier: Apache-2.0
// The gradient of RotaryPositionEmbedding against differences of its formula.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

constexpr size_t kWidth = 8;

/// The places of both numbers of pair i in a row of kWidth, and those that they go to.
struct PairPlaces {
  size_t first, second, to, next;
};

PairPlaces PlacesOf(int64_t mode, size_t i) {
  switch (mode) {
    case 1:
      return {2 * i, 2 * i + 1, 2 * i, 2 * i + 1};
    case 2: {
      const size_t first = i < 2 ? i : i + 2;
      return {first, first + 2, first, first + 2};
    }
    case 3:
      return {2 * i, 2 * i + 1, i, i + 4};
    default:
      return {i, i + 4, i, i + 4};
  }
}

/// The forward: x of (2, 3, kWidth) turned by angles of (3, kWidth).
Doubles Turned(int64_t mode, const Doubles& x, const Doubles& cos, const Doubles& sin) {
  Doubles y(x.size());
  for (size_t row = 0; row < 6; ++row) {
    const size_t at = row * kWidth, angle = row % 3 * kWidth;
    for (size_t i = 0; i < kWidth / 2; ++i) {
      const auto [first, second, to, next] = PlacesOf(mode, i);
      y[at + to] = x[at + first] * cos[angle + to] - x[at + second] * sin[angle + to];
      y[at + next] = x[at + second] * cos[angle + next] + x[at + first] * sin[angle + next];
    }
  }
  return y;
}

TEST(Rotary, GradientsInEachMode) {
  const Device device;
  Random random(76);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (int64_t mode = 0; mode < 4; ++mode) {
      SCOPED_TRACE(testing::Message() << dtype << ", mode " << mode);
      const DeviceTensor x = Make(dtype, {2, 3, 8}, RealValues(random, 48), random),
                         g = Make(dtype, {2, 3, 8}, RealValues(random, 48), random),
                         cos = Make(dtype, {1, 3, 8}, RealValues(random, 24), random),
                         sin = Make(dtype, {3, 8}, RealValues(random, 24), random);
      const DeviceTensor dx(dtype, RandomLayout(random, {2, 3, 8}, false)),
          dcos(dtype, RandomLayout(random, {1, 3, 8}, false)),
          dsin(dtype, RandomLayout(random, {3, 8}, false));
      EXPECT_RUN(device, RotaryPositionEmbeddingGrad, g.handle(), cos.handle(), sin.handle(),
                 x.handle(), mode, Handle(dx), Handle(dcos), Handle(dsin));
      const Doubles xs = ValuesOf(x), gs = ValuesOf(g), cs = ValuesOf(cos), ss = ValuesOf(sin);
      const auto by_x = [&](const Doubles& at) { return Turned(mode, at, cs, ss); };
      const auto by_cos = [&](const Doubles& at) { return Turned(mode, xs, at, ss); };
      const auto by_sin = [&](const Doubles& at) { return Turned(mode, xs, cs, at); };
      ExpectNear(ValuesOf(dx), Slopes(xs, gs, by_x), dtype, 0, 2e-6);
      ExpectNear(ValuesOf(dcos), Slopes(cs, gs, by_cos), dtype, 0, 2e-6);
      ExpectNear(ValuesOf(dsin), Slopes(ss, gs, by_sin), dtype, 0, 2e-6);
      for (const DeviceTensor* out : {&dx, &dcos, &dsin}) EXPECT_EQ(out->Damage(), "");
    }
  }
}

// An angle that a whole row shares has the gradients of all numbers of the row.
TEST(Rotary, GradientByOneAngleOfARow) {
  const Device device;
  const DeviceTensor x = Floats({2, 2}, {1, 2, 3, 4}), g = Floats({2, 2}, {5, 6, 7, 8}),
                     angle = Floats({1}, {1}), dx = EmptyFloats({2, 2}), dcos = EmptyFloats({1}),
                     dsin = EmptyFloats({1});
  EXPECT_RUN(device, RotaryPositionEmbeddingGrad, g.handle(), angle.handle(), angle.handle(),
             x.handle(), 0, Handle(dx), Handle(dcos), Handle(dsin));
  EXPECT_EQ(ValuesOf(dx), (Doubles{11, 1, 15, 1}));
  EXPECT_EQ(ValuesOf(dcos), (Doubles{1 * 5 + 2 * 6 + 3 * 7 + 4 * 8}));
  EXPECT_EQ(ValuesOf(dsin), (Doubles{1 * 6 - 2 * 5 + 3 * 8 - 4 * 7}));
}

TEST(Rotary, WithoutTheOperandAnglesHaveNoGradient) {
  const Device device;
  const DeviceTensor g = Floats({1, 2}, {5, 6}), cos = Floats({1, 2}, {2, 3}),
                     sin = Floats({1, 2}, {1, 1}), dx = EmptyFloats({1, 2}),
                     dcos = Floats({1, 2}, {7, 7}), none = EmptyFloats({0});
  EXPECT_RUN(device, RotaryPositionEmbeddingGrad, g.handle(), cos.handle(), sin.handle(), nullptr,
             0, Handle(dx), Handle(dcos), Handle(none));
  EXPECT_EQ(ValuesOf(dx), (Doubles{2 * 5 + 6, 3 * 6 - 5}));
  EXPECT_EQ(ValuesOf(dcos), (Doubles{7, 7}));
}

TEST(Rotary, GradientRefusesShapes) {
  const Device device;
  const DeviceTensor g = EmptyFloats({2, 6}), cos = EmptyFloats({1, 6}), odd = EmptyFloats({2, 5});
  EXPECT_REFUSED(161002, "expected a last dimension that is a multiple of 2",
                 RotaryPositionEmbeddingGrad, odd.handle(), odd.handle(), odd.handle(), nullptr, 0,
                 Handle(odd), nullptr, nullptr);
  EXPECT_REFUSED(161002, "expected a last dimension that is a multiple of 4",
                 RotaryPositionEmbeddingGrad, g.handle(), cos.handle(), cos.handle(), nullptr, 2,
                 Handle(g), nullptr, nullptr);
  EXPECT_REFUSED(161002, "xOptional shape is", RotaryPositionEmbeddingGrad, g.handle(),
                 cos.handle(), cos.handle(), cos.handle(), 0, Handle(g), Handle(cos), Handle(cos));
  EXPECT_REFUSED(161002, "dsinOut shape is", RotaryPositionEmbeddingGrad, g.handle(), cos.handle(),
                 cos.handle(), g.handle(), 0, Handle(g), Handle(cos), Handle(g));
  EXPECT_REFUSED(161002, "mode value is 4", RotaryPositionEmbeddingGrad, g.handle(), cos.handle(),
                 cos.handle(), nullptr, 4, Handle(g), nullptr, nullptr);
}

}  // namespace
}  // namespace openaclnn::test
