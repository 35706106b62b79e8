// SPDX-License-Identifier: Apache-2.0
// Windows whose sizes leave what a number holds.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// A view that has its one element everywhere.
DeviceTensor Repeated(const Dims& dims) {
  return DeviceTensor(ACL_FLOAT, Layout{dims, Dims(dims.size(), 0), 0, 1});
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
