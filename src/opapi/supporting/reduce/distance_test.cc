// SPDX-License-Identifier: Apache-2.0
// Cdist and Pdist: examples and refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

DeviceTensor Floats(const Dims& dims, const Doubles& values) {
  return Make(ACL_FLOAT, dims, values);
}
DeviceTensor NoFloats(const Dims& dims) { return DeviceTensor(ACL_FLOAT, DenseLayout(dims)); }

TEST(Distance, BetweenRows) {
  const Device device;
  const DeviceTensor x1 = Floats({3, 2}, {0, 0, 3, 4, 3, 0}), x2 = Floats({2, 2}, {0, 0, 3, 4}),
                     out = NoFloats({3, 2}), pairs = NoFloats({3});
  EXPECT_RUN(device, Cdist, x1.handle(), x2.handle(), 2.0f, 2, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{0, 5, 5, 0, 3, 4}));
  EXPECT_RUN(device, Cdist, x1.handle(), x2.handle(), INFINITY, 2, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{0, 4, 4, 0, 3, 4}));
  EXPECT_RUN(device, Pdist, x1.handle(), 1.0f, Handle(pairs));
  EXPECT_EQ(ValuesOf(pairs), (Doubles{7, 3, 4}));
  EXPECT_RUN(device, Pdist, x1.handle(), 0.0f, Handle(pairs));
  EXPECT_EQ(ValuesOf(pairs), (Doubles{2, 1, 1}));
}

TEST(Distance, Refusals) {
  const Device device;
  const DeviceTensor x1 = NoFloats({3, 2}), x2 = NoFloats({2, 3}), out = NoFloats({3, 2}),
                     batches = NoFloats({2, 4, 2}), others = NoFloats({3, 4, 2});
  EXPECT_REFUSED(161002, "p value is -1, expected one that is not negative", Cdist, x1.handle(),
                 x1.handle(), -1.0f, 0, Handle(out));
  EXPECT_REFUSED(161002, "x2 shape is (2, 3), expected rows and batches as those of x1, (3, 2)",
                 Cdist, x1.handle(), x2.handle(), 2.0f, 0, Handle(out));
  EXPECT_REFUSED(161002, "x2 shape is (3, 4, 2), expected rows and batches", Cdist,
                 batches.handle(), others.handle(), 2.0f, 0, Handle(batches));
  EXPECT_REFUSED(161002, "out shape is (3, 2), expected (3, 3)", Cdist, x1.handle(), x1.handle(),
                 2.0f, 0, Handle(out));
  EXPECT_REFUSED(161002, "out shape is (2), expected (3)", Pdist, x1.handle(), 2.0f,
                 Handle(NoFloats({2})));
  EXPECT_REFUSED(161002, "self rank is 3", Pdist, batches.handle(), 2.0f, Handle(NoFloats({2})));
}

}  // namespace
}  // namespace openaclnn::test
