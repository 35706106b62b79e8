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
  }
  const DeviceTensor real(ACL_FLOAT, DenseLayout({2})), whole(ACL_UINT64, DenseLayout({2})),
      complex(ACL_COMPLEX64, DenseLayout({2}));
  EXPECT_REFUSED(161002, "src dtype is FLOAT", InplaceCopy, Handle(whole), real.handle());
  EXPECT_REFUSED(161002, "src dtype is UINT64", InplaceCopy, Handle(complex), whole.handle());
}

/// The parts of complex numbers, one after the other.
Doubles PartsOf(const DeviceTensor& tensor) {
  return ToDoubles(tensor.dtype() == ACL_COMPLEX64 ? ACL_FLOAT : ACL_DOUBLE, tensor.Read());
}

// Of each type, broadcast, between views with gaps: the imaginary parts are 0.
TEST(SupportingTypes, NumbersBecomeComplex) {
  const Device device;
  Random random(73);
  for (const aclDataType dtype : {ACL_COMPLEX64, ACL_COMPLEX128}) {
    for (const aclDataType from : kTypes) {
      SCOPED_TRACE(from);
      const DeviceTensor to(dtype, RandomLayout(random, {700, 2}, false)),
          row = Make(from, {2}, {1, 0}, random);
      EXPECT_RUN(device, InplaceCopy, Handle(to), row.handle());
      const Doubles parts = PartsOf(to);
      for (size_t i = 0; i < parts.size(); ++i) ASSERT_EQ(parts[i], i % 4 == 0) << i;
      EXPECT_EQ(to.Damage(), "");
    }
  }
  const int64_t odd = (int64_t{1} << 53) + 1;  // a double's neighbours are 2 apart
  DeviceTensor integer(ACL_INT64, DenseLayout({1}));
  Bytes bytes(sizeof(odd));
  std::memcpy(bytes.data(), &odd, sizeof(odd));
  integer.Write(bytes);
  const DeviceTensor to(ACL_COMPLEX128, DenseLayout({1}));
  EXPECT_RUN(device, InplaceCopy, Handle(to), integer.handle());
  EXPECT_EQ(PartsOf(to), (Doubles{0x1p53, 0}));
}

/// Of COMPLEX64, somewhere.
DeviceTensor MakeComplex(const Doubles& parts, Random& random) {
  const auto count = static_cast<int64_t>(parts.size() / 2);
  DeviceTensor tensor(ACL_COMPLEX64, RandomLayout(random, {count}, false));
  tensor.Write(ToBytes(ACL_FLOAT, parts));
  return tensor;
}

TEST(SupportingTypes, ComplexNumbersAreRoundedToOthers) {
  const Device device;
  Random random(74);
  const Doubles parts = {1, -2, 0.1f, 3, 4, 1e-30f};
  const DeviceTensor narrow = MakeComplex(parts, random), back(ACL_COMPLEX64, DenseLayout({3})),
                     wide(ACL_COMPLEX128, RandomLayout(random, {3}, false));
  EXPECT_RUN(device, InplaceCopy, Handle(wide), narrow.handle());
  EXPECT_EQ(PartsOf(wide), ToDoubles(ACL_FLOAT, narrow.Read()));
  EXPECT_RUN(device, InplaceCopy, Handle(back), wide.handle());
  EXPECT_EQ(back.Read(), narrow.Read());
}

TEST(SupportingTypes, AbsOfComplexNumbers) {
  const Device device;
  Random random(75);
  const Doubles parts = {3,    -4,    -1,    0,   0, 0, 3e38,     0,   1.5e38,
                         2e38, 3e-45, 4e-45, NAN, 1, 1, INFINITY, NAN, -INFINITY};
  const DeviceTensor self = MakeComplex(parts, random), out(ACL_FLOAT, DenseLayout({9})),
                     wide(ACL_DOUBLE, DenseLayout({9})), other(ACL_COMPLEX128, DenseLayout({9}));
  EXPECT_RUN(device, Abs, self.handle(), Handle(out));
  const Doubles got = ValuesOf(out), in = ToDoubles(ACL_FLOAT, self.Read());
  for (size_t i = 0; i < 9; ++i) {
    const auto want = static_cast<float>(std::hypot(in[2 * i], in[2 * i + 1]));
    EXPECT_TRUE(got[i] == want || (std::isnan(want) && std::isnan(got[i]))) << i << ": " << got[i];
  }
  EXPECT_REFUSED(161002, "out dtype is DOUBLE, expected FLOAT", Abs, self.handle(), Handle(wide));
  EXPECT_REFUSED(161002, "self dtype is COMPLEX128", Abs, other.handle(), Handle(wide));
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
