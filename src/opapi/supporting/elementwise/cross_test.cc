// SPDX-License-Identifier: Apache-2.0
// LinalgCross against plain loops.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(Elementwise, CrossProducts) {
  const Device device;
  Random random(74);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_INT64, ACL_FLOAT16, ACL_DOUBLE}) {
    const Doubles a = SmallValues(random, 2 * 3 * 4), b = SmallValues(random, 3 * 4);
    const DeviceTensor self = Make(dtype, {2, 3, 4}, a, random);
    const DeviceTensor other = Make(dtype, {1, 3, 4}, b, random);
    const DeviceTensor out(dtype, RandomLayout(random, {2, 3, 4}, false));
    EXPECT_RUN(device, LinalgCross, self.handle(), other.handle(), -2, Handle(out));
    Doubles want(24);
    for (size_t i = 0; i < 24; ++i) {
      const size_t outer = i / 12, k = i / 4 % 3, inner = i % 4;
      const size_t u = (k + 1) % 3 * 4 + inner, v = (k + 2) % 3 * 4 + inner;
      want[i] = a[outer * 12 + u] * b[v] - a[outer * 12 + v] * b[u];
    }
    EXPECT_EQ(ValuesOf(out), want);
    EXPECT_EQ(out.Damage(), "");
    // In place of one factor.
    EXPECT_RUN(device, LinalgCross, self.handle(), other.handle(), 1, Handle(self));
    EXPECT_EQ(ValuesOf(self), want);
  }
  const DeviceTensor pair = Of({2}, {1, 2}), three = Of({3}, {1, 2, 3}), out = Empty({3});
  EXPECT_REFUSED(161002, "expected 3 in dim", LinalgCross, pair.handle(), pair.handle(), 0,
                 Handle(pair));
  EXPECT_REFUSED(161002, "dim value is 1", LinalgCross, three.handle(), three.handle(), 1,
                 Handle(out));
}

}  // namespace
}  // namespace openaclnn::test
