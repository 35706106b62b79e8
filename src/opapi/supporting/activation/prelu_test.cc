// SPDX-License-Identifier: Apache-2.0
// Prelu and its gradients: slopes, sums in parts, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

DeviceTensor Floats(const Dims& dims, const Doubles& values) {
  return Make(ACL_FLOAT, dims, values);
}
DeviceTensor NoFloats(const Dims& dims) { return DeviceTensor(ACL_FLOAT, DenseLayout(dims)); }

TEST(Prelu, SlopeIsThatOfTheChannel) {
  const Device device;
  const DeviceTensor self = Floats({2, 2, 2}, {-1, 2, -3, 4, 5, -6, -7, 0}),
                     out = NoFloats({2, 2, 2});
  const auto forward = [&](const DeviceTensor& weight) {
    EXPECT_RUN(device, Prelu, self.handle(), weight.handle(), Handle(out));
    return ValuesOf(out);
  };
  EXPECT_EQ(forward(Floats({1}, {0.5})), (Doubles{-0.5, 2, -1.5, 4, 5, -3, -3.5, 0}));
  EXPECT_EQ(forward(Floats({1, 2, 1}, {0.5, -1})), (Doubles{-0.5, 2, 3, 4, 5, -3, 7, 0}));
}

/// Elements are whole numbers, whose sums are exact.
TEST(Prelu, GradientsOfManyElements) {
  const Device device;
  Random random(47);
  // Channels apart, and side by side in more than one tile, the first sums in parts.
  const std::pair<Dims, int64_t> calls[] = {
      {{3, 5, 11000}, 1}, {{3, 5, 11000}, 5}, {{33000, 3}, 3}, {{300, 83}, 83}, {{90, 7, 2}, 7}};
  for (const auto& [shape, weights] : calls) {
    const int64_t count = CountOf(shape);
    const auto inner = static_cast<size_t>(count / (shape[0] * shape[1]));
    const Doubles x = SmallValues(random, count, -4, 4), g = SmallValues(random, count, -4, 4);
    const Doubles w = SmallValues(random, weights, -4, 4);
    Doubles by_input(x.size()), by_weight(w.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t k = i / inner % static_cast<size_t>(weights);
      by_input[i] = x[i] > 0 ? g[i] : w[k] * g[i];
      by_weight[k] += x[i] > 0 ? 0 : g[i] * x[i];
    }
    for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16}) {
      const DeviceTensor upstream = Make(dtype, shape, g, random),
                         self = Make(dtype, shape, x, random),
                         weight = Make(dtype, {weights}, w, random),
                         grad(dtype, RandomLayout(random, shape, false)),
                         grad_weight(dtype, RandomLayout(random, {weights}, false));
      EXPECT_RUN(device, PreluBackward, upstream.handle(), self.handle(), weight.handle(),
                 Handle(grad), Handle(grad_weight));
      EXPECT_EQ(ValuesOf(grad), by_input);
      ExpectNear(ValuesOf(grad_weight), by_weight, dtype, 0, 0);
    }
  }
}

TEST(Prelu, Refusals) {
  const Device device;
  const DeviceTensor self = NoFloats({2, 3}), out = NoFloats({2, 3}), two = NoFloats({2}),
                     three = NoFloats({3}), one = NoFloats({1}),
                     half(ACL_FLOAT16, DenseLayout({3})), wide = NoFloats({4, 2, 3});
  EXPECT_REFUSED(161002, "weight shape is (2), expected 1 element or 3, the channels of self",
                 Prelu, self.handle(), two.handle(), Handle(out));
  EXPECT_REFUSED(161002, "weight shape is (3), expected 1 element or 1, the channels of self",
                 Prelu, three.handle(), three.handle(), Handle(three));
  EXPECT_REFUSED(161002, "weight dtype is FLOAT16, expected that of self, FLOAT", PreluBackward,
                 self.handle(), self.handle(), half.handle(), Handle(out), Handle(three));
  EXPECT_REFUSED(161002, "gradWeight shape is (1), expected as many elements as weight, (3)",
                 PreluBackward, self.handle(), self.handle(), three.handle(), Handle(out),
                 Handle(one));
  EXPECT_REFUSED(161002, "gradInput shape is (2, 3), expected (4, 2, 3)", PreluBackward,
                 wide.handle(), self.handle(), three.handle(), Handle(out), Handle(three));
}

}  // namespace
}  // namespace openaclnn::test
