// SPDX-License-Identifier: Apache-2.0
// Windows whose sizes leave what a number holds.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// A view that has its one element everywhere.
DeviceTensor Repeated(const Dims& dims) {
  return DeviceTensor(ACL_FLOAT, Layout{dims, Dims(dims.size(), 0), 0, 1});
}

// The weights take 2^62 bytes for each channel, as do the inputs of the one place.
TEST(Window, ConvolutionOfMoreThanANumberCounts) {
  const Device device;
  const int64_t most = int64_t{1} << 20;
  const IntListHandle stride({{1, 1, 1}}), none({{0, 0, 0}});
  for (const int64_t channels : {2, 4}) {
    SCOPED_TRACE(channels);
    const DeviceTensor input = Repeated({1, 1, most, most, most}),
                       weight = Repeated({channels, 1, most, most, most}),
                       output(ACL_FLOAT, DenseLayout({1, channels, 1, 1, 1}));
    const auto plan = [&](auto... o) {
      return aclnnConvolutionGetWorkspaceSize(input.handle(), weight.handle(), nullptr,
                                              stride.get(), none.get(), stride.get(), false,
                                              none.get(), 1, Handle(output), 0, o...);
    };
    Refused(161002,
            "weight shape is (" + std::to_string(channels) +
                ", 1, 1048576, 1048576, 1048576), expected one whose workspace",
            plan);
  }
}

TEST(Window, MaxPoolOfThePadsThatWrap) {
  const Device device;
  const DeviceTensor self(ACL_FLOAT, DenseLayout({1, 1, 4, 4})),
      out(ACL_FLOAT, DenseLayout({1, 1, 1, 1}));
  const IntListHandle kernel({{2, 2}}), one({{1, 1}});
  for (const int64_t pad : {INT64_MAX, int64_t{1} << 62, INT64_MIN, int64_t{2}}) {
    const IntListHandle pads({{pad}});
    EXPECT_REFUSED(161002, "pads value is ", MaxPool, self.handle(), kernel.get(), one.get(), 0,
                   pads.get(), one.get(), 0, Handle(out));
  }
}

// Numbers of torch.nn.functional.max_pool2d and avg_pool2d, 2.8, of [[0, 1], [2, 3]].
TEST(Window, AWindowLargerThanTheInputFitsWhenRoundedUp) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {1, 1, 2, 2}, {0, 1, 2, 3}),
                     out(ACL_FLOAT, DenseLayout({1, 1, 1, 1}));
  const IntListHandle three({{3, 3}}), two({{2, 2}}), zero({{0}}), one({{1, 1}});
  EXPECT_RUN(device, MaxPool, self.handle(), three.get(), two.get(), 0, zero.get(), one.get(), 1,
             Handle(out));
  EXPECT_EQ(ValuesOf(out), Doubles{3});
  EXPECT_RUN(device, AvgPool2d, self.handle(), three.get(), two.get(), zero.get(), true, true, 0,
             int8_t{0}, Handle(out));
  EXPECT_EQ(ValuesOf(out), Doubles{1.5});
}

TEST(Window, LengthsWhoseWindowsWrapAreRefused) {
  const Device device;
  const int64_t long_one = (int64_t{1} << 40) + 1;
  const DeviceTensor input = Repeated({1, 1, long_one}), weight = Repeated({1, 1, 2}),
                     output(ACL_FLOAT, DenseLayout({1, 1, 1}));
  const IntListHandle one({{1}}), none({{0}}), two({{2}});
  EXPECT_REFUSED(161002, "input shape is (1, 1, 1099511627777), expected none of the last 1",
                 Convolution, input.handle(), weight.handle(), nullptr, one.get(), none.get(),
                 one.get(), true, none.get(), 1, Handle(output), 0);
  const DeviceTensor place = Repeated({1, 1, 1}), twice = Repeated({1, 1, 4});
  EXPECT_REFUSED(161002,
                 "outputPadding value is 2, expected less than stride or dilation, at most 1",
                 Convolution, place.handle(), weight.handle(), nullptr, two.get(), none.get(),
                 one.get(), true, two.get(), 1, Handle(twice), 0);
}

}  // namespace
}  // namespace openaclnn::test
