// SPDX-License-Identifier: Apache-2.0
// Pooling that tells places, other sizes and gradients: their bits, and what is refused.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// Lists of a call that more than one test makes.
struct Lists {
  IntListHandle two{IntListSpec{{2, 2}}}, three{IntListSpec{{3, 3}}}, one{IntListSpec{{1, 1}}},
      none{IntListSpec{{0, 0}}}, size{IntListSpec{{50, 21}}}, shape{IntListSpec{{2, 3, 37, 31}}};
};

TEST(Planes, HaveTheSameBitsUnderEachSetting) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    std::vector<std::vector<std::byte>> want;
    UnderEachSetting([&](const std::string& name, const Device& device) {
      SCOPED_TRACE(testing::Message() << name << ", " << dtype);
      Random random(91);
      const Lists lists;
      const Dims in = {2, 3, 37, 31}, pooled = {2, 3, 19, 16}, wide = {2, 3, 50, 21};
      const auto made = [&](const Dims& dims, int64_t n) {
        return Make(dtype, dims, RealValues(random, 6 * n), random);
      };
      const DeviceTensor x = made(in, 37 * 31), small = made(pooled, 19 * 16),
                         large = made(wide, 50 * 21);
      const DeviceTensor dx(dtype, DenseLayout(in)), sized(dtype, DenseLayout(wide)),
          largest(dtype, DenseLayout(pooled)), mask(ACL_INT8, DenseLayout({2, 3, 9, 640}));
      std::vector<std::vector<std::byte>> got;
      const auto keep = [&](const DeviceTensor& tensor) { got.push_back(tensor.Read()); };
      EXPECT_RUN(device, AvgPool2dBackward, small.handle(), x.handle(), lists.three.get(),
                 lists.two.get(), lists.one.get(), false, false, 0, 0, Handle(dx));
      keep(dx);
      EXPECT_RUN(device, AdaptiveAvgPool2dBackward, large.handle(), x.handle(), Handle(dx));
      keep(dx);
      EXPECT_RUN(device, UpsampleBicubic2d, x.handle(), lists.size.get(), false, 0, 0,
                 Handle(sized));
      keep(sized);
      EXPECT_RUN(device, UpsampleBicubic2dBackward, large.handle(), lists.size.get(),
                 lists.shape.get(), true, 0, 0, Handle(dx));
      keep(dx);
      if (dtype != ACL_BF16) {  // which its page does not list
        EXPECT_RUN(device, UpsampleBilinear2dBackward, large.handle(), lists.size.get(),
                   lists.shape.get(), true, 0, 0, Handle(dx));
        keep(dx);
      }
      EXPECT_RUN(device, MaxPool2dWithMask, x.handle(), lists.three.get(), lists.two.get(),
                 lists.one.get(), lists.one.get(), false, Handle(largest), Handle(mask));
      keep(largest);
      keep(mask);
      EXPECT_RUN(device, MaxPool2dWithMaskBackward, small.handle(), x.handle(), mask.handle(),
                 lists.three.get(), lists.two.get(), lists.one.get(), lists.one.get(), false,
                 Handle(dx));
      keep(dx);
      if (want.empty()) want = got;
      EXPECT_EQ(got, want);
    });
  }
}

TEST(Planes, PoolingRefuses) {
  const Device device;
  const Lists lists;
  const DeviceTensor x(ACL_FLOAT, DenseLayout({1, 4, 4})), y(ACL_FLOAT, DenseLayout({1, 2, 2})),
      mask(ACL_INT8, DenseLayout({1, 4, 64})), other(ACL_FLOAT, DenseLayout({1, 2, 2})),
      bytes(ACL_INT8, DenseLayout({1, 4, 4}));
  const auto with_mask = [&](const DeviceTensor& self, const aclIntArray* pad,
                             const aclIntArray* dilation, const DeviceTensor& indices,
                             const std::string& says) {
    Refused(161002, says, [&](auto... o) {
      return aclnnMaxPool2dWithMaskGetWorkspaceSize(self.handle(), lists.two.get(), lists.two.get(),
                                                    pad, dilation, false, Handle(y),
                                                    Handle(indices), o...);
    });
  };
  const aclIntArray *one = lists.one.get(), *none = lists.none.get();
  with_mask(x, none, lists.two.get(), mask, "dilation value is 2, expected 1");
  with_mask(x, lists.two.get(), one, mask,
            "padding value is 2, expected at most half of kernelSize, 2");
  with_mask(x, none, one, other, "indices dtype is FLOAT, expected INT8");
  with_mask(x, none, one, bytes, "indices shape is (1, 4, 4), expected (1, 4, 64)");
  with_mask(bytes, none, one, mask, "self dtype is INT8, expected FLOAT");
  EXPECT_REFUSED(161002, "indices dtype is FLOAT, expected INT32", MaxPool2dWithIndices, x.handle(),
                 lists.two.get(), lists.two.get(), none, one, false, Handle(y), Handle(other));
}

TEST(Planes, OtherSizesRefuse) {
  const Device device;
  const Lists lists;
  const DeviceTensor x(ACL_FLOAT, DenseLayout({1, 1, 4, 4})),
      y(ACL_FLOAT, DenseLayout({1, 1, 2, 2})), none(ACL_FLOAT, DenseLayout({1, 1, 0, 4}));
  EXPECT_REFUSED(161002, "self shape is (1, 1, 0, 4), expected planes with elements",
                 UpsampleBilinear2d, none.handle(), lists.two.get(), false, 0, 0, Handle(y));
  EXPECT_REFUSED(161002, "out shape is (1, 1, 2, 2), expected (1, 1, 3, 3)", UpsampleBilinear2d,
                 x.handle(), lists.three.get(), false, 0, 0, Handle(y));
  EXPECT_REFUSED(161002, "inputSize size is 2, expected 4", UpsampleNearest2dBackward, y.handle(),
                 lists.two.get(), lists.two.get(), 0, 0, Handle(x));
  const IntListHandle shape(IntListSpec{{1, 1, 4, 5}});
  EXPECT_REFUSED(161002, "gradInput shape is (1, 1, 4, 4), expected (1, 1, 4, 5)",
                 UpsampleNearest2dBackward, y.handle(), lists.two.get(), shape.get(), 0, 0,
                 Handle(x));
}

}  // namespace
}  // namespace openaclnn::test
