// SPDX-License-Identifier: Apache-2.0
// MaxPool3dWithArgmax and its gradient: ties, NaN, windows that meet, bits, refusals.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

struct Lists {
  IntListHandle taps{IntListSpec{{1, 2, 2}}}, one{IntListSpec{{1, 1, 1}}}, none{IntListSpec{{0}}},
      two{IntListSpec{{2, 2, 2}}}, three{IntListSpec{{3}}}, pad{IntListSpec{{1}}};
};

TEST(MaxPool3d, TellsTheFirstOfTheLargest) {
  const Device device;
  const Lists lists;
  const DeviceTensor self = Make(ACL_FLOAT, {1, 1, 3, 3}, {5, 5, NAN, 1, 7, 2, -INFINITY, 7, 3}),
                     out(ACL_FLOAT, DenseLayout({1, 1, 2, 2})),
                     places(ACL_INT32, DenseLayout({1, 1, 2, 2})),
                     grad(ACL_FLOAT, DenseLayout({1, 1, 3, 3})),
                     upstream = Make(ACL_FLOAT, {1, 1, 2, 2}, {1, 2, 4, 8});
  EXPECT_RUN(device, MaxPool3dWithArgmax, self.handle(), lists.taps.get(), lists.one.get(),
             lists.none.get(), lists.one.get(), false, Handle(out), Handle(places));
  const Doubles largest = ValuesOf(out);
  EXPECT_EQ(largest[0], 7);
  EXPECT_TRUE(std::isnan(largest[1]));
  EXPECT_EQ(ValuesOf(places), (Doubles{4, 2, 4, 4}));
  EXPECT_RUN(device, MaxPool3dWithArgmaxBackward, upstream.handle(), self.handle(), places.handle(),
             lists.taps.get(), lists.one.get(), lists.none.get(), lists.one.get(), false,
             Handle(grad));
  EXPECT_EQ(ValuesOf(grad), (Doubles{0, 0, 2, 0, 13, 0, 0, 0, 0}));
}

TEST(MaxPool3d, HasTheSameBitsUnderEachSetting) {
  std::vector<std::vector<std::byte>> want;
  UnderEachSetting([&](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    Random random(41);
    const Lists lists;
    const Dims in = {2, 5, 9, 11, 13}, pooled = {2, 5, 5, 6, 7};
    const DeviceTensor x = Make(ACL_FLOAT, in, RealValues(random, 10 * 9 * 11 * 13), random),
                       dy = Make(ACL_FLOAT, pooled, RealValues(random, 10 * 5 * 6 * 7), random);
    const DeviceTensor y(ACL_FLOAT, DenseLayout(pooled)), at(ACL_INT32, DenseLayout(pooled)),
        dx(ACL_FLOAT, DenseLayout(in));
    EXPECT_RUN(device, MaxPool3dWithArgmax, x.handle(), lists.three.get(), lists.two.get(),
               lists.pad.get(), lists.one.get(), false, Handle(y), Handle(at));
    EXPECT_RUN(device, MaxPool3dWithArgmaxBackward, dy.handle(), x.handle(), at.handle(),
               lists.three.get(), lists.two.get(), lists.pad.get(), lists.one.get(), false,
               Handle(dx));
    const std::vector<std::vector<std::byte>> got = {y.Read(), at.Read(), dx.Read()};
    if (want.empty()) want = got;
    EXPECT_EQ(got, want);
  });
}

TEST(MaxPool3d, Refusals) {
  const Device device;
  const Lists lists;
  const DeviceTensor self(ACL_FLOAT, DenseLayout({1, 2, 3, 3})),
      out(ACL_FLOAT, DenseLayout({1, 2, 2, 2})), places(ACL_INT32, DenseLayout({1, 2, 2, 2})),
      none(ACL_FLOAT, DenseLayout({1, 0, 3, 3})), whole(ACL_INT32, DenseLayout({1, 2, 3, 3})),
      wide(ACL_DOUBLE, DenseLayout({1, 2, 3, 3})),
      upstream = Make(ACL_FLOAT, {1, 2, 2, 2}, Doubles(8)),
      grad(ACL_FLOAT, DenseLayout({1, 2, 3, 3})),
      beyond = Make(ACL_INT32, {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 18});
  const auto refused = [&](const DeviceTensor& x, const IntListHandle& taps,
                           const IntListHandle& pad, const IntListHandle& dilation,
                           const DeviceTensor& at, const std::string& says) {
    Refused(161002, says, [&](auto... o) {
      return aclnnMaxPool3dWithArgmaxGetWorkspaceSize(x.handle(), taps.get(), lists.one.get(),
                                                      pad.get(), dilation.get(), false, Handle(out),
                                                      Handle(at), o...);
    });
  };
  refused(self, lists.taps, lists.none, lists.one, whole,
          "indices shape is (1, 2, 3, 3), expected (1, 2, 2, 2)");
  refused(self, lists.taps, lists.pad, lists.one, places,
          "padding value is 1, expected at most half of kernelSize, 1");
  refused(self, lists.two, lists.pad, lists.three, places,
          "dilation value is 3, expected at most the length, 2, where there is padding");
  refused(none, lists.taps, lists.none, lists.one, places,
          "self shape is (1, 0, 3, 3), expected planes with elements");
  refused(wide, lists.taps, lists.none, lists.one, places, "self dtype is DOUBLE, expected FLOAT");
  EXPECT_EQ(
      RUN(device, MaxPool3dWithArgmaxBackward, upstream.handle(), self.handle(), beyond.handle(),
          lists.taps.get(), lists.one.get(), lists.none.get(), lists.one.get(), false, Handle(grad))
          .code,
      507035);
}

}  // namespace
}  // namespace openaclnn::test
