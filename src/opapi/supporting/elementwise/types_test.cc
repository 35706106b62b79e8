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

// An alpha that is not 0 is true beside numbers of BOOL, as PyTorch has it: 1 - 1 would be false.
TEST(SupportingTypes, TruthValuesTakeAnAlphaOfTheirType) {
  const Device device;
  const DeviceTensor a = Make(ACL_BOOL, {4}, {1, 1, 0, 0}), b = Make(ACL_BOOL, {4}, {1, 0, 1, 0}),
                     truths(ACL_BOOL, DenseLayout({4})), whole(ACL_INT64, DenseLayout({4}));
  const auto sum = [&](int64_t alpha) {
    EXPECT_RUN(device, Add, a.handle(), b.handle(), ScalarHandle(alpha).get(), Handle(truths));
    return ValuesOf(truths);
  };
  EXPECT_EQ(sum(2), (Doubles{1, 1, 1, 0}));
  EXPECT_EQ(sum(-1), (Doubles{1, 1, 1, 0}));
  EXPECT_EQ(sum(0), (Doubles{1, 1, 0, 0}));
  const ScalarHandle half(0.5), two(int64_t{2}), three(int64_t{3});
  EXPECT_REFUSED(161002, "alpha dtype is DOUBLE, expected BOOL or a type of integers", Add,
                 a.handle(), b.handle(), half.get(), Handle(truths));
  EXPECT_REFUSED(161002, "alpha dtype is DOUBLE, expected BOOL or a type of integers", InplaceSub,
                 Handle(truths), b.handle(), half.get());
  // A scalar that is no truth value raises the type of both.
  EXPECT_RUN(device, Adds, a.handle(), three.get(), two.get(), Handle(whole));
  EXPECT_EQ(ValuesOf(whole), (Doubles{7, 7, 6, 6}));
}

// Integers that a narrow type of floats does not hold are rounded before anything is computed.
TEST(SupportingTypes, IntegersBecomeOfTheTypeInWhichTheyMeetFloats) {
  const Device device;
  const ScalarHandle one(int64_t{1});
  const auto of = [](aclDataType dtype, double value) { return Make(dtype, {1}, {value}); };
  struct Pair {
    DeviceTensor narrow, whole;
  };
  const Pair pairs[] = {{of(ACL_FLOAT16, 2048), of(ACL_INT32, 2049)},
                        {of(ACL_FLOAT16, 2048), of(ACL_INT16, 2049)},
                        {of(ACL_FLOAT16, 2048), of(ACL_INT64, 2049)},
                        {of(ACL_BF16, 256), of(ACL_INT64, 257)},
                        {of(ACL_BF16, 0x1p24 + 0x1p17), of(ACL_INT32, 0x1p24 + 0x1p16 + 1)}};
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(&pair - pairs);
    const DeviceTensor truth(ACL_BOOL, DenseLayout({1})), wide(ACL_FLOAT, DenseLayout({1}));
    EXPECT_RUN(device, EqTensor, pair.narrow.handle(), pair.whole.handle(), Handle(truth));
    EXPECT_EQ(ValuesOf(truth)[0], 1);
    EXPECT_RUN(device, GtTensor, pair.whole.handle(), pair.narrow.handle(), Handle(truth));
    EXPECT_EQ(ValuesOf(truth)[0], 0);
    EXPECT_RUN(device, IsClose, pair.narrow.handle(), pair.whole.handle(), 0.0, 0.0, false,
               Handle(truth));
    EXPECT_EQ(ValuesOf(truth)[0], 1);
    EXPECT_RUN(device, Sub, pair.whole.handle(), pair.narrow.handle(), one.get(), Handle(wide));
    EXPECT_EQ(ValuesOf(wide)[0], 0);
  }
  const DeviceTensor half = of(ACL_FLOAT16, 0.5), unit = of(ACL_FLOAT16, 1),
                     great = of(ACL_INT32, 70000), odd = of(ACL_INT32, 2049),
                     wide(ACL_FLOAT, DenseLayout({1}));
  EXPECT_RUN(device, Mul, half.handle(), great.handle(), Handle(wide));
  EXPECT_EQ(ValuesOf(wide)[0], INFINITY);
  EXPECT_RUN(device, Addcmul, unit.handle(), odd.handle(), half.handle(), one.get(), Handle(wide));
  EXPECT_EQ(ValuesOf(wide)[0], 1025);
  EXPECT_RUN(device, InplaceMul, Handle(half), great.handle());
  EXPECT_EQ(ValuesOf(half)[0], INFINITY);
}

// The pages have no type that UINT16 or UINT32 and another meet in; a condition is no operand.
TEST(SupportingTypes, UnsignedIntegersMeetNoOtherType) {
  const Device device;
  const DeviceTensor a = Make(ACL_UINT16, {1}, {7}), b = Make(ACL_UINT32, {1}, {7}),
                     whole = Make(ACL_INT32, {1}, {7}), truth(ACL_BOOL, DenseLayout({1})),
                     yes = Make(ACL_BOOL, {1}, {1}), out(ACL_UINT16, DenseLayout({1}));
  EXPECT_REFUSED(161002, "other dtype is INT32, expected that of self, UINT16", BitwiseAndTensor,
                 a.handle(), whole.handle(), Handle(out));
  EXPECT_REFUSED(161002, "other dtype is UINT32, expected that of self, BOOL", LtTensor,
                 yes.handle(), b.handle(), Handle(truth));
  EXPECT_REFUSED(161002, "other dtype is UINT32, expected that of self, UINT16", LtTensor,
                 a.handle(), b.handle(), Handle(truth));
  EXPECT_RUN(device, LtTensor, b.handle(), b.handle(), Handle(truth));
  EXPECT_EQ(ValuesOf(truth)[0], 0);
  EXPECT_RUN(device, SWhere, yes.handle(), a.handle(), a.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out)[0], 7);
  EXPECT_REFUSED(161002, "other dtype is INT32, expected that of self, UINT16", SWhere,
                 yes.handle(), a.handle(), whole.handle(), Handle(out));
  const ScalarHandle five(int64_t{5});
  EXPECT_RUN(device, InplaceMaskedFillScalar, Handle(out), yes.handle(), five.get());
  EXPECT_EQ(ValuesOf(out)[0], 5);
}

// The type that the operands meet in has a say where the output's is wider.
TEST(SupportingTypes, ResultsHaveTheTypeThatOperandsMeetIn) {
  const Device device;
  const ScalarHandle one(int64_t{1});
  const auto sum = [&](aclDataType dtype, double a, double b, aclDataType out_dtype) {
    const DeviceTensor x = Make(dtype, {1}, {a}), y = Make(dtype, {1}, {b}),
                       out(out_dtype, DenseLayout({1}));
    EXPECT_RUN(device, Add, x.handle(), y.handle(), one.get(), Handle(out));
    return ValuesOf(out)[0];
  };
  EXPECT_EQ(sum(ACL_FLOAT16, 1, 0x1p-12, ACL_FLOAT), 1);
  EXPECT_EQ(sum(ACL_BF16, 256, 1, ACL_DOUBLE), 256);
  EXPECT_EQ(sum(ACL_FLOAT16, 60000, 60000, ACL_FLOAT), INFINITY);
  EXPECT_EQ(sum(ACL_INT8, 100, 100, ACL_INT32), -56);
  EXPECT_EQ(sum(ACL_BOOL, 1, 1, ACL_FLOAT), 1);
  EXPECT_EQ(sum(ACL_FLOAT, 1, 0x1p-23, ACL_DOUBLE), 1 + 0x1p-23);
  const DeviceTensor a = Make(ACL_FLOAT16, {1}, {1}), b = Make(ACL_BF16, {1}, {0x1p-12}),
                     out(ACL_FLOAT, DenseLayout({1}));
  EXPECT_RUN(device, Add, a.handle(), b.handle(), one.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out)[0], 1 + 0x1p-12);
  const DeviceTensor least = Make(ACL_INT8, {1}, {-128});
  EXPECT_RUN(device, Abs, least.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out)[0], -128);
}

// Numbers of UINT64 beyond INT64 are the largest ones, and no type meets UINT64.
TEST(SupportingTypes, UnsignedNumbersOf64Bits) {
  const Device device;
  const uint64_t a[] = {uint64_t{1} << 63, 1}, b[] = {1, ~uint64_t{0}};
  const auto of = [](const uint64_t(&numbers)[2]) {
    DeviceTensor tensor(ACL_UINT64, DenseLayout({2}));
    Bytes bytes(sizeof(numbers));
    std::memcpy(bytes.data(), numbers, sizeof(numbers));
    tensor.Write(bytes);
    return tensor;
  };
  const DeviceTensor x = of(a), y = of(b), out(ACL_UINT64, DenseLayout({2})),
                     truths(ACL_BOOL, DenseLayout({2})), one(ACL_BOOL, DenseLayout({1}));
  EXPECT_RUN(device, LtTensor, x.handle(), y.handle(), Handle(truths));
  EXPECT_EQ(ValuesOf(truths), (Doubles{0, 1}));
  EXPECT_RUN(device, GtScalar, x.handle(), ScalarHandle(int64_t{1}).get(), Handle(truths));
  EXPECT_EQ(ValuesOf(truths), (Doubles{1, 0}));
  EXPECT_RUN(device, GeScalar, x.handle(), ScalarHandle(0x1p62).get(), Handle(truths));
  EXPECT_EQ(ValuesOf(truths), (Doubles{1, 0}));
  EXPECT_RUN(device, Signbit, x.handle(), Handle(truths));
  EXPECT_EQ(ValuesOf(truths), (Doubles{0, 0}));
  EXPECT_RUN(device, Floor, x.handle(), Handle(out));
  EXPECT_EQ(out.Read(), x.Read());
  const DeviceTensor long_numbers(ACL_INT64, DenseLayout({2})), floats(ACL_FLOAT, DenseLayout({2}));
  EXPECT_RUN(device, BitwiseOrTensor, x.handle(), y.handle(), Handle(long_numbers));
  EXPECT_EQ(long_numbers.Read()[0], std::byte{1});
  // In INT64 the same bits are -1, which is another number.
  const DeviceTensor negative = Make(ACL_INT64, {2}, {1, -1});
  EXPECT_RUN(device, Equal, negative.handle(), y.handle(), Handle(one));
  EXPECT_EQ(ValuesOf(one), (Doubles{0}));
  EXPECT_REFUSED(161002, "other dtype is INT64, expected that of self", LtTensor, x.handle(),
                 long_numbers.handle(), Handle(truths));
  EXPECT_REFUSED(161002, "out dtype is FLOAT, expected", BitwiseOrTensor, x.handle(), y.handle(),
                 Handle(floats));
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
  }
}

/// The result of InplaceCopy for numbers of a type.
template <class T>
Doubles Copied(const Device& device, aclDataType from, const std::vector<T>& numbers,
               aclDataType to) {
  const auto count = static_cast<int64_t>(numbers.size()) / (from == ACL_COMPLEX64 ? 2 : 1);
  DeviceTensor src(from, DenseLayout({count}));
  Bytes bytes(numbers.size() * sizeof(T));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  src.Write(bytes);
  const DeviceTensor self(to, DenseLayout({count}));
  EXPECT_RUN(device, InplaceCopy, Handle(self), src.handle());
  if (to == ACL_UINT64) {
    std::vector<uint64_t> got(static_cast<size_t>(count));
    std::memcpy(got.data(), self.Read().data(), got.size() * sizeof(uint64_t));
    return {got.begin(), got.end()};
  }
  return ToDoubles(to == ACL_COMPLEX64 ? ACL_FLOAT : to, self.Read());
}

// Numbers that INT64 does not hold are themselves, and rounded once: those of 16 bits beside the
// middle of two neighbours, which DOUBLE would make of them.
TEST(SupportingTypes, LargeUnsignedIntegersAreConverted) {
  const Device device;
  const std::vector<uint64_t> large = {7, uint64_t{1} << 63, ~uint64_t{0}};
  EXPECT_EQ(Copied(device, ACL_UINT64, large, ACL_DOUBLE), (Doubles{7, 0x1p63, 0x1p64}));
  EXPECT_EQ(Copied(device, ACL_UINT64, large, ACL_FLOAT), (Doubles{7, 0x1p63, 0x1p64}));
  EXPECT_EQ(Copied(device, ACL_UINT64, large, ACL_BOOL), (Doubles{1, 1, 1}));
  EXPECT_EQ(Copied(device, ACL_UINT64, large, ACL_INT8), (Doubles{7, 0, -1}));
  EXPECT_EQ(Copied(device, ACL_UINT64, large, ACL_COMPLEX64),
            (Doubles{7, 0, 0x1p63, 0, 0x1p64, 0}));
  // A BFLOAT16 has 8 bits: between 2^63 and the next lies 2^55, and 1 more is nearer to that.
  const uint64_t beside = (uint64_t{1} << 63) + (uint64_t{1} << 55) + 1;
  EXPECT_EQ(Copied(device, ACL_UINT64, std::vector<uint64_t>{beside - 1, beside}, ACL_BF16),
            (Doubles{0x1p63, 0x1.02p63}));
  EXPECT_EQ(Copied(device, ACL_FLOAT, std::vector<float>{3.5f, 0x1p63f, 0x1p64f}, ACL_UINT64),
            (Doubles{3, 0x1p63, 0x1p64}));
}

// A type of real numbers gets the real parts.
TEST(SupportingTypes, ComplexNumbersBecomeReal) {
  const Device device;
  const std::vector<float> parts = {1, -2, 0.1f, 3, -4.75f, NAN};
  EXPECT_EQ(Copied(device, ACL_COMPLEX64, parts, ACL_FLOAT), (Doubles{1, 0.1f, -4.75f}));
  EXPECT_EQ(Copied(device, ACL_COMPLEX64, parts, ACL_INT32), (Doubles{1, 0, -4}));
  EXPECT_EQ(Copied(device, ACL_COMPLEX64, parts, ACL_UINT64),
            (Doubles{1, 0, 18446744073709551612.0}));
}

/// The parts of complex numbers, one after the other.
Doubles PartsOf(const DeviceTensor& tensor) {
  return ToDoubles(tensor.dtype() == ACL_COMPLEX64 ? ACL_FLOAT : ACL_DOUBLE, tensor.Read());
}

// Takes numbers of each type, broadcast, between views with gaps: the imaginary parts are 0.
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

/// Makes a tensor of COMPLEX64, somewhere.
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
  const DeviceTensor whole(ACL_INT32, DenseLayout({9}));
  EXPECT_RUN(device, InplaceCopy, Handle(other), self.handle());
  EXPECT_RUN(device, Abs, other.handle(), Handle(wide));
  EXPECT_EQ(ValuesOf(wide)[0], 5);
  EXPECT_REFUSED(161002, "out dtype is INT32, expected FLOAT or another float type", Abs,
                 self.handle(), Handle(whole));
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
