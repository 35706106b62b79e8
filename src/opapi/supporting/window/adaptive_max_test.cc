// SPDX-License-Identifier: Apache-2.0
// AdaptiveMaxPool2d and its gradient: ties, NaN, shares that meet, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

DeviceTensor Floats(const Dims& dims, const Doubles& values) {
  return Make(ACL_FLOAT, dims, values);
}
DeviceTensor Empty(aclDataType dtype, const Dims& dims) {
  return DeviceTensor(dtype, DenseLayout(dims));
}

TEST(AdaptiveMaxPool, TellsTheFirstOfTheLargest) {
  const Device device;
  const IntListHandle size(IntListSpec{{2, 2}});
  const DeviceTensor self = Floats({1, 3, 4}, {5, 1, 2, 2, 5, NAN, 3, 2, 0, NAN, 3, 1}),
                     out = Empty(ACL_FLOAT, {1, 2, 2}), places = Empty(ACL_INT64, {1, 2, 2}),
                     grad = Empty(ACL_FLOAT, {1, 3, 4}), upstream = Floats({1, 2, 2}, {1, 2, 4, 8});
  EXPECT_RUN(device, AdaptiveMaxPool2d, self.handle(), size.get(), Handle(out), Handle(places));
  const Doubles largest = ValuesOf(out);
  EXPECT_TRUE(std::isnan(largest[0]) && std::isnan(largest[2]));
  EXPECT_EQ(largest[1], 3);
  EXPECT_EQ(largest[3], 3);
  EXPECT_EQ(ValuesOf(places), (Doubles{5, 6, 5, 6}));
  // Rows 0 and 1, and 1 and 2, have one element that is the largest of both.
  EXPECT_RUN(device, AdaptiveMaxPool2dBackward, upstream.handle(), self.handle(), places.handle(),
             Handle(grad));
  EXPECT_EQ(ValuesOf(grad), (Doubles{0, 0, 0, 0, 0, 5, 10, 0, 0, 0, 0, 0}));
}

// 1 + 2^-40 is 1 in FLOAT.
TEST(AdaptiveMaxPool, OfDoubles) {
  const Device device;
  const IntListHandle size(IntListSpec{{1, 1}}), volume(IntListSpec{{1, 1, 1}});
  const DeviceTensor self = Make(ACL_DOUBLE, {1, 1, 3}, {1, 1 + 0x1p-40, 1}),
                     self3d = Make(ACL_DOUBLE, {1, 1, 1, 3}, {1, 1 + 0x1p-40, 1}),
                     out = Empty(ACL_DOUBLE, {1, 1, 1}), places = Empty(ACL_INT32, {1, 1, 1}),
                     out3d = Empty(ACL_DOUBLE, {1, 1, 1, 1}),
                     places3d = Empty(ACL_INT32, {1, 1, 1, 1});
  EXPECT_RUN(device, AdaptiveMaxPool2d, self.handle(), size.get(), Handle(out), Handle(places));
  EXPECT_RUN(device, AdaptiveMaxPool3d, self3d.handle(), volume.get(), Handle(out3d),
             Handle(places3d));
  EXPECT_EQ(ValuesOf(out), (Doubles{1 + 0x1p-40}));
  EXPECT_EQ(ValuesOf(places), (Doubles{1}));
  EXPECT_EQ(ValuesOf(out3d), (Doubles{1 + 0x1p-40}));
  EXPECT_EQ(ValuesOf(places3d), (Doubles{1}));
}

TEST(AdaptiveMaxPool, Refusals) {
  const Device device;
  const IntListHandle size(IntListSpec{{2, 2}}), three(IntListSpec{{2, 2, 2}});
  const DeviceTensor self = Empty(ACL_FLOAT, {1, 3, 4}), out = Empty(ACL_FLOAT, {1, 2, 2}),
                     places = Empty(ACL_INT64, {1, 2, 2}), none = Empty(ACL_FLOAT, {1, 0, 4}),
                     half = Empty(ACL_FLOAT16, {1, 2, 2}), grad = Empty(ACL_FLOAT, {1, 3, 4}),
                     beyond = Make(ACL_INT32, {1, 2, 2}, {0, 1, 2, 12}),
                     upstream = Floats({1, 2, 2}, {1, 2, 3, 4}),
                     written = Floats({1, 3, 4}, Doubles(12, 1));
  EXPECT_REFUSED(161002, "outputSize value is (2, 2, 2), expected 2 numbers", AdaptiveMaxPool2d,
                 self.handle(), three.get(), Handle(out), Handle(places));
  EXPECT_REFUSED(161002, "self shape is (1, 0, 4), expected planes with elements",
                 AdaptiveMaxPool2d, none.handle(), size.get(), Handle(out), Handle(places));
  EXPECT_REFUSED(161002, "outputOut dtype is FLOAT16, expected that of self, FLOAT",
                 AdaptiveMaxPool2d, self.handle(), size.get(), Handle(half), Handle(places));
  EXPECT_REFUSED(161002, "indicesOut shape is (1, 3, 4), expected (1, 2, 2)", AdaptiveMaxPool2d,
                 self.handle(), size.get(), Handle(out), Handle(Empty(ACL_INT64, {1, 3, 4})));
  EXPECT_REFUSED(161002, "indices shape is (1, 2, 2), expected (1, 3, 4)",
                 AdaptiveMaxPool2dBackward, self.handle(), self.handle(), places.handle(),
                 Handle(grad));
  EXPECT_EQ(RUN(device, AdaptiveMaxPool2dBackward, upstream.handle(), written.handle(),
                beyond.handle(), Handle(grad))
                .code,
            507035);
}

}  // namespace
}  // namespace openaclnn::test
