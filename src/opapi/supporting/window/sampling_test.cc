// SPDX-License-Identifier: Apache-2.0
// GridSampler2D and its gradient: examples, differences, bits, refusals.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kLinear = 0, kNearest = 1, kCubic = 2, kZeros = 0, kBorder = 1, kReflection = 2;

Doubles Sampled(const Device& device, const DeviceTensor& input, const DeviceTensor& grid,
                int64_t mode, int64_t outside, bool aligned) {
  const DeviceTensor out = Empty({1, 1, 1, grid.layout().dims[2]});
  EXPECT_RUN(device, GridSampler2D, input.handle(), grid.handle(), mode, outside, aligned,
             Handle(out));
  return ValuesOf(out);
}

TEST(GridSampler, OfTwoRows) {
  const Device device;
  const DeviceTensor input = Of({1, 1, 2, 2}, {1, 2, 3, 4});
  // The centre, a corner, between the first row's elements, far outside, nowhere.
  const DeviceTensor grid = Of({1, 1, 5, 2}, {0, 0, -1, -1, 0, -0.5, 9, -9, NAN, 0});
  const auto sampled = [&](int64_t mode, int64_t outside, bool aligned) {
    return Sampled(device, input, grid, mode, outside, aligned);
  };
  EXPECT_EQ(sampled(kLinear, kZeros, false), (Doubles{2.5, 0.25, 1.5, 0, 0}));
  EXPECT_EQ(sampled(kLinear, kBorder, false), (Doubles{2.5, 1, 1.5, 2, 2}));
  EXPECT_EQ(sampled(kLinear, kZeros, true), (Doubles{2.5, 1, 2, 0, 0}));
  // 9 and -9 are 10 and 8 elements from the upper and left edge, at one of which ways back end.
  EXPECT_EQ(sampled(kLinear, kReflection, false), (Doubles{2.5, 1, 1.5, 2, 2}));
  EXPECT_EQ(sampled(kNearest, kBorder, false), (Doubles{1, 1, 1, 2, 1}));
  // 19/32 of each neighbour, -3/32 of those beyond, for which the border stands.
  EXPECT_EQ(sampled(kCubic, kBorder, false)[0], 2.5);
}

TEST(GridSampler, GradientsAreSlopes) {
  const Device device;
  Random random(31);
  const Dims in = {1, 2, 3, 4}, at = {1, 2, 3, 2}, out = {1, 2, 2, 3};
  const Doubles x = RealValues(random, 24), places = RealValues(random, 12, -1.4, 1.4),
                weights = RealValues(random, 12);
  const FlagsHandle both({true, true});
  for (int64_t mode = kLinear; mode <= kCubic; ++mode) {
    for (int64_t outside = kZeros; outside <= kReflection; ++outside) {
      for (const bool aligned : {false, true}) {
        SCOPED_TRACE(testing::Message() << mode << ", " << outside << ", " << aligned);
        const auto forward = [&](const Doubles& values, const Doubles& grid) {
          const DeviceTensor input = Of(in, values), points = Of(at, grid), made = Empty(out);
          EXPECT_RUN(device, GridSampler2D, input.handle(), points.handle(), mode, outside, aligned,
                     Handle(made));
          return ValuesOf(made);
        };
        const DeviceTensor dx = Empty(in), dgrid = Empty(at), dy = Of(out, weights),
                           input = Of(in, x), grid = Of(at, places);
        EXPECT_RUN(device, GridSampler2DBackward, dy.handle(), input.handle(), grid.handle(), mode,
                   outside, aligned, both.get(), Handle(dx), Handle(dgrid));
        ExpectNear(ValuesOf(dx),
                   Slopes(x, weights, [&](const Doubles& v) { return forward(v, places); }),
                   ACL_DOUBLE, 1e-6, 1e-6);
        ExpectNear(ValuesOf(dgrid),
                   Slopes(places, weights, [&](const Doubles& v) { return forward(x, v); }),
                   ACL_DOUBLE, 1e-6, 1e-6);
      }
    }
  }
}

TEST(GridSampler, HasTheSameBitsUnderEachSetting) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    std::vector<std::vector<std::byte>> want;
    UnderEachSetting([&](const std::string& name, const Device& device) {
      SCOPED_TRACE(testing::Message() << name << ", " << dtype);
      Random random(32);
      const Dims in = {2, 9, 11, 13}, at = {2, 40, 23, 2}, out = {2, 9, 40, 23};
      const FlagsHandle both({true, true});
      const DeviceTensor x = Make(dtype, in, RealValues(random, 2 * 9 * 11 * 13), random),
                         grid = Make(dtype, at, RealValues(random, 2 * 40 * 23 * 2), random),
                         dy = Make(dtype, out, RealValues(random, 2 * 9 * 40 * 23), random);
      const DeviceTensor y(dtype, DenseLayout(out)), dx(dtype, DenseLayout(in)),
          dgrid(dtype, DenseLayout(at));
      EXPECT_RUN(device, GridSampler2D, x.handle(), grid.handle(), kCubic, kReflection, false,
                 Handle(y));
      EXPECT_RUN(device, GridSampler2DBackward, dy.handle(), x.handle(), grid.handle(), kLinear,
                 kBorder, true, both.get(), Handle(dx), Handle(dgrid));
      const std::vector<std::vector<std::byte>> got = {y.Read(), dx.Read(), dgrid.Read()};
      if (want.empty()) want = got;
      EXPECT_EQ(got, want);
    });
  }
}

TEST(GridSampler, Refusals) {
  const Device device;
  const DeviceTensor input = Empty({1, 1, 2, 2}), grid = Empty({1, 3, 5, 2}),
                     out = Empty({1, 1, 3, 5}), deep = Empty({1, 1, 2, 2, 2}),
                     points = Empty({1, 1, 1, 1, 3}), none = Empty({1, 1, 0, 2}),
                     half(ACL_FLOAT16, DenseLayout({1, 3, 5, 2})), other = Empty({2, 3, 5, 2});
  const FlagsHandle both({true, true}), three({true, true, true});
  const auto refused = [&](const DeviceTensor& x, const DeviceTensor& at, int64_t mode,
                           int64_t outside, const DeviceTensor& y, const std::string& says) {
    Refused(161002, says, [&](auto... o) {
      return aclnnGridSampler2DGetWorkspaceSize(x.handle(), at.handle(), mode, outside, false,
                                                Handle(y), o...);
    });
  };
  refused(input, grid, 3, 0, out, "interpolationMode value is 3, expected linear (0), nearest (1)");
  refused(input, grid, 0, 3, out, "paddingMode value is 3, expected zeros (0), border (1)");
  refused(input, half, 0, 0, out, "grid dtype is FLOAT16, expected that of input, DOUBLE");
  refused(input, other, 0, 0, out, "grid shape is (2, 3, 5, 2), expected (1, 3, 5, 2)");
  refused(input, grid, 0, 0, input, "out shape is (1, 1, 2, 2), expected (1, 1, 3, 5)");
  refused(none, grid, 0, 0, out, "input shape is (1, 1, 0, 2), expected planes with elements");
  refused(deep, grid, 0, 0, out, "input rank is 5 (shape (1, 1, 2, 2, 2)), expected 4");
  EXPECT_REFUSED(161002, "interpolationMode value is 2, expected linear (0) or nearest (1)",
                 GridSampler3D, deep.handle(), points.handle(), 2, 0, false, Handle(deep));
  EXPECT_REFUSED(161002, "outputMask size is 3, expected 2", GridSampler2DBackward, out.handle(),
                 input.handle(), grid.handle(), 0, 0, false, three.get(), Handle(input),
                 Handle(grid));
  EXPECT_REFUSED(161002, "inputGrad shape is (1, 1, 3, 5), expected that of input, (1, 1, 2, 2)",
                 GridSampler2DBackward, out.handle(), input.handle(), grid.handle(), 0, 0, false,
                 both.get(), Handle(out), Handle(grid));
}

}  // namespace
}  // namespace openaclnn::test
