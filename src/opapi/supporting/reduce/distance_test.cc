// SPDX-License-Identifier: Apache-2.0
// Cdist, its gradient and Pdist: examples and refusals.
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

// Each order's slope of a distance of 5 by 3 and 4, and of one that is 0.
TEST(Distance, GradientOfRows) {
  const Device device;
  const DeviceTensor x1 = Floats({1, 2}, {3, -4}), x2 = Floats({2, 2}, {0, 0, 3, -4}),
                     upstream = Floats({1, 2}, {10, 100}), distances = NoFloats({1, 2}),
                     out = NoFloats({1, 2});
  const auto gradient = [&](float order) {
    EXPECT_RUN(device, Cdist, x1.handle(), x2.handle(), order, 2, Handle(distances));
    EXPECT_RUN(device, CdistBackward, upstream.handle(), x1.handle(), x2.handle(),
               distances.handle(), order, Handle(out));
    return ValuesOf(out);
  };
  EXPECT_EQ(gradient(2), (Doubles{6, -8}));
  EXPECT_EQ(gradient(1), (Doubles{10, -10}));
  EXPECT_EQ(gradient(0), (Doubles{0, 0}));
  // Both elements are the largest where the distance is 0.
  EXPECT_EQ(gradient(INFINITY), (Doubles{0, -10}));
  const double cubes = std::cbrt(27.0 + 64.0);
  ExpectNear(gradient(3), {10 * 9 / cubes / cubes, -10 * 16 / cubes / cubes}, ACL_FLOAT);
}

TEST(Distance, GradientRefusals) {
  const Device device;
  const DeviceTensor x1 = NoFloats({3, 2}), x2 = NoFloats({4, 2}), pairs = NoFloats({3, 4}),
                     turned = NoFloats({4, 3}), half(ACL_FLOAT16, DenseLayout({3, 2}));
  const auto refused = [&](const DeviceTensor& grad, const DeviceTensor& a, const DeviceTensor& b,
                           float p, const DeviceTensor& cdist, const std::string& says) {
    Refused(161002, says, [&](auto... o) {
      return aclnnCdistBackwardGetWorkspaceSize(grad.handle(), a.handle(), b.handle(),
                                                cdist.handle(), p, Handle(x1), o...);
    });
  };
  refused(pairs, x1, x2, -1, pairs, "p value is -1, expected one that is not negative");
  refused(turned, x1, x2, 2, pairs, "grad shape is (4, 3), expected (3, 4) or batches");
  refused(pairs, x1, x2, 2, turned, "cdist shape is (4, 3), expected (3, 4) or batches");
  refused(pairs, x2, x2, 2, pairs, "grad shape is (3, 4), expected (4, 4) or batches");
  refused(pairs, x1, turned, 2, pairs, "x2 shape is (4, 3), expected (4, 2) or batches");
  refused(turned, x2, x1, 2, turned, "out shape is (3, 2), expected (4, 2)");
  refused(pairs, half, x2, 2, pairs, "grad dtype is FLOAT, expected that of x1, FLOAT16");
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
