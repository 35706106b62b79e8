// SPDX-License-Identifier: Apache-2.0
// Types that the vendor's pages name, or leave out.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

using Bytes = std::vector<std::byte>;

// 2^53 + 1 has no double.
TEST(SupportingTypes, IntegersAreWholeAlready) {
  const Device device;
  const int64_t values[] = {(int64_t{1} << 53) + 1, -7};
  DeviceTensor self(ACL_INT64, DenseLayout({2}));
  const DeviceTensor out(ACL_INT64, DenseLayout({2}));
  Bytes bytes(sizeof(values));
  std::memcpy(bytes.data(), values, sizeof(values));
  self.Write(bytes);
  EXPECT_RUN(device, Floor, self.handle(), Handle(out));
  EXPECT_EQ(out.Read(), bytes);
  EXPECT_RUN(device, Round, self.handle(), Handle(out));
  EXPECT_EQ(out.Read(), bytes);
  EXPECT_RUN(device, InplaceFloor, Handle(self));
  EXPECT_EQ(self.Read(), bytes);
  EXPECT_RUN(device, NanToNum, self.handle(), 0.5f, 2.0f, -2.0f, Handle(out));
  EXPECT_EQ(out.Read(), bytes);
  const DeviceTensor truth = Make(ACL_BOOL, {3}, {1, 0, 1}), same(ACL_BOOL, DenseLayout({3}));
  EXPECT_RUN(device, NanToNum, truth.handle(), 0.5f, 2.0f, -2.0f, Handle(same));
  EXPECT_EQ(ValuesOf(same), (Doubles{1, 0, 1}));
}

TEST(SupportingTypes, TruthValuesHaveNoNegative) {
  const Device device;
  const DeviceTensor truth = Make(ACL_BOOL, {2}, {1, 0});
  EXPECT_REFUSED(161002, "self dtype is BOOL", Neg, truth.handle(), Handle(truth));
  EXPECT_REFUSED(161002, "selfRef dtype is BOOL", InplaceNeg, Handle(truth));
}

// Complex numbers are moved, their bits as they are.
TEST(SupportingTypes, ComplexNumbersAreCopied) {
  const Device device;
  Random random(71);
  for (const aclDataType dtype : {ACL_COMPLEX64, ACL_COMPLEX128, ACL_UINT64}) {
    const DeviceTensor to(dtype, RandomLayout(random, {3, 4}, false)),
        row(dtype, DenseLayout({3, 1}));
    DeviceTensor from(dtype, RandomLayout(random, {3, 1}, false));
    Bytes bytes(row.Read().size());
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(Uniform(random, 0, 255));
    }
    from.Write(bytes);
    EXPECT_RUN(device, InplaceCopy, Handle(to), from.handle());
    const Bytes got = to.Read();
    const size_t size = bytes.size() / 3;
    for (size_t i = 0; i < 12; ++i) {
      ASSERT_EQ(std::memcmp(&got[i * size], &bytes[i / 4 * size], size), 0) << dtype << " " << i;
    }
    EXPECT_EQ(to.Damage(), "");
    const DeviceTensor real(ACL_FLOAT, DenseLayout({3, 4}));
    EXPECT_REFUSED(161002, "src dtype is ", InplaceCopy, Handle(real), from.handle());
    EXPECT_REFUSED(161002, "src dtype is FLOAT", InplaceCopy, Handle(to), real.handle());
  }
}

TEST(SupportingTypes, ClampTensorWorksInPlace) {
  const Device device;
  Random random(72);
  const DeviceTensor self = Make(ACL_FLOAT, {4}, {-3, -1, 1, 3}, random),
                     low = Make(ACL_FLOAT, {4}, {-2, -2, 2, 2}, random),
                     high = Make(ACL_FLOAT, {4}, {0, 0, 2.5, 2.5}, random);
  EXPECT_RUN(device, ClampTensor, self.handle(), low.handle(), high.handle(), Handle(self));
  EXPECT_EQ(ValuesOf(self), (Doubles{-2, -1, 2, 2.5}));
  EXPECT_RUN(device, ClampTensor, self.handle(), nullptr, low.handle(), Handle(self));
  EXPECT_EQ(ValuesOf(self), (Doubles{-2, -2, 2, 2}));
}

}  // namespace
}  // namespace openaclnn::test
