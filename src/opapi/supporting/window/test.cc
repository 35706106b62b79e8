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
  for (const int64_t channels : {1, 4}) {
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

}  // namespace
}  // namespace openaclnn::test
