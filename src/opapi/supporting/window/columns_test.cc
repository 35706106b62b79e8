// SPDX-License-Identifier: Apache-2.0
// Im2colBackward: sums of what Im2col repeats, dilated windows, refusals; AvgPool3d's windows.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

IntListHandle Ints(const Dims& values) { return IntListHandle(IntListSpec{values}); }

// With a column for each window, each element is counted as often as windows have it.
TEST(Columns, AreSummedWhereTheyCameFrom) {
  const Device device;
  const IntListHandle size = Ints({4, 5}), taps = Ints({2, 3}), dilation = Ints({2, 1}),
                      padding = Ints({1, 0}), stride = Ints({1, 2});
  const Doubles x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  const DeviceTensor self = Make(ACL_FLOAT, {1, 4, 5}, x), columns(ACL_FLOAT, DenseLayout({6, 8})),
                     out(ACL_FLOAT, DenseLayout({1, 4, 5}));
  EXPECT_RUN(device, Im2col, self.handle(), taps.get(), dilation.get(), padding.get(), stride.get(),
             Handle(columns));
  EXPECT_RUN(device, Im2colBackward, columns.handle(), size.get(), taps.get(), dilation.get(),
             padding.get(), stride.get(), Handle(out));
  const Doubles got = ValuesOf(out);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t row = i / 5, column = i % 5;
    const double rows = row == 0 || row == 3 ? 1 : 2;  // windows begin in rows -1 to 2
    EXPECT_EQ(got[i], x[i] * rows * (column == 2 ? 2 : 1)) << i;
  }
  EXPECT_REFUSED(161002,
                 "gradOutput shape is (6, 8), expected rows for 6 taps of each channel and "
                 "4 columns",
                 Im2colBackward, columns.handle(), Ints({4, 4}).get(), taps.get(), dilation.get(),
                 padding.get(), stride.get(), Handle(out));
  EXPECT_REFUSED(161002, "out shape is (6, 8), expected (1, 4, 5)", Im2colBackward,
                 columns.handle(), size.get(), taps.get(), dilation.get(), padding.get(),
                 stride.get(), Handle(columns));
  EXPECT_REFUSED(161002, "stride value is (0), expected 2 numbers", Im2colBackward,
                 columns.handle(), size.get(), taps.get(), dilation.get(), padding.get(),
                 Ints({0}).get(), Handle(out));
}

TEST(Columns, MeansOfVolumes) {
  const Device device;
  const IntListHandle taps = Ints({2, 2, 2}), stride = Ints({2, 2, 2}), padding = Ints({1, 0, 0}),
                      wide = Ints({2, 0, 0}), two = Ints({2, 2});
  const DeviceTensor self = Make(ACL_FLOAT, {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                     out(ACL_FLOAT, DenseLayout({1, 2, 1, 1})),
                     grad(ACL_FLOAT, DenseLayout({1, 2, 2, 2}));
  const auto means = [&](bool count_pad, int64_t divisor) {
    EXPECT_RUN(device, AvgPool3d, self.handle(), taps.get(), stride.get(), padding.get(), false,
               count_pad, divisor, Handle(out));
    return ValuesOf(out);
  };
  EXPECT_EQ(means(true, 0), (Doubles{1.25, 3.25}));
  EXPECT_EQ(means(false, 0), (Doubles{2.5, 6.5}));
  EXPECT_EQ(means(true, -2), (Doubles{-5, -13}));
  const DeviceTensor upstream = Make(ACL_FLOAT, {1, 2, 1, 1}, {8, 16});
  EXPECT_RUN(device, AvgPool3dBackward, upstream.handle(), self.handle(), taps.get(), stride.get(),
             padding.get(), false, true, 0, Handle(grad));
  EXPECT_EQ(ValuesOf(grad), (Doubles{1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_REFUSED(161002, "padding value is 2, expected at most half of kernelSize, 2", AvgPool3d,
                 self.handle(), taps.get(), stride.get(), wide.get(), false, true, 0, Handle(out));
  EXPECT_REFUSED(161002, "kernelSize value is (2, 2), expected 3 numbers", AvgPool3d, self.handle(),
                 two.get(), stride.get(), padding.get(), false, true, 0, Handle(out));
  EXPECT_REFUSED(161002, "output shape is (1, 2, 1, 1), expected (1, 2, 2, 2)", AvgPool3dBackward,
                 upstream.handle(), self.handle(), taps.get(), stride.get(), padding.get(), false,
                 true, 0, Handle(out));
}

}  // namespace
}  // namespace openaclnn::test
