// SPDX-License-Identifier: Apache-2.0
// Complex numbers that are made, multiplied, turned into angles and signs, or cleared.
#include <cmath>
#include <complex>
#include <limits>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

using Number = std::complex<double>;

DeviceTensor Of(const std::vector<Number>& numbers, Random& random) {
  Doubles parts;
  for (const Number& number : numbers) parts.insert(parts.end(), {number.real(), number.imag()});
  DeviceTensor tensor(ACL_COMPLEX64,
                      RandomLayout(random, {static_cast<int64_t>(numbers.size())}, false));
  tensor.Write(ToBytes(ACL_FLOAT, parts));
  return tensor;
}

std::vector<Number> NumbersOf(const DeviceTensor& tensor) {
  const Doubles parts = ToDoubles(ACL_FLOAT, tensor.Read());
  std::vector<Number> numbers;
  for (size_t i = 0; i < parts.size(); i += 2) numbers.emplace_back(parts[i], parts[i + 1]);
  return numbers;
}

const std::vector<Number> kNumbers = {{3, -4},       {0, 0},         {-1, 0},    {0, 2},
                                      {-0.5f, 0.5f}, {3e38f, 3e38f}, {1e-40f, 0}};

// Operands and results of COMPLEX64 have FLOAT parts, in a wider output too.
TEST(ComplexNumbers, MeetInTheTypeOfTheirParts) {
  const Device device;
  Random random(77);
  const ScalarHandle one(int64_t{1});
  const DeviceTensor a = Of({{1, 1}}, random), b = Of({{0x1p-30, 0x1p-30}}, random),
                     even = Of({{0x1p24, 0}}, random), odd = Make(ACL_INT64, {1}, {0x1p24 + 1}),
                     near = Make(ACL_INT32, {1}, {0x1p24 + 1}),
                     wide(ACL_COMPLEX128, DenseLayout({1})), real(ACL_DOUBLE, DenseLayout({1})),
                     truth(ACL_BOOL, DenseLayout({1}));
  EXPECT_RUN(device, Add, a.handle(), b.handle(), one.get(), Handle(wide));
  EXPECT_EQ(ToDoubles(ACL_DOUBLE, wide.Read()), (Doubles{1, 1}));
  EXPECT_RUN(device, Abs, a.handle(), Handle(real));
  EXPECT_EQ(ValuesOf(real)[0], static_cast<float>(std::sqrt(2.0)));
  for (const DeviceTensor* const whole : {&odd, &near}) {
    EXPECT_RUN(device, EqTensor, even.handle(), whole->handle(), Handle(truth));
    EXPECT_EQ(ValuesOf(truth)[0], 1);
    EXPECT_RUN(device, Sub, whole->handle(), even.handle(), one.get(), Handle(wide));
    EXPECT_EQ(ToDoubles(ACL_DOUBLE, wide.Read()), (Doubles{0, 0}));
  }
}

TEST(ComplexNumbers, TheirAngles) {
  const Device device;
  Random random(76);
  const DeviceTensor x = Of(kNumbers, random), out(ACL_FLOAT, RandomLayout(random, {7}, false)),
                     wide(ACL_DOUBLE, DenseLayout({7})), other(ACL_COMPLEX128, DenseLayout({7}));
  EXPECT_RUN(device, AngleV2, x.handle(), Handle(out));
  const Doubles got = ValuesOf(out);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i], static_cast<float>(std::arg(kNumbers[i]))) << i;
  }
  EXPECT_RUN(device, InplaceCopy, Handle(other), x.handle());
  EXPECT_RUN(device, AngleV2, other.handle(), Handle(wide));
  const Doubles more = ValuesOf(wide);
  for (size_t i = 0; i < more.size(); ++i) EXPECT_EQ(more[i], std::arg(kNumbers[i])) << i;
  const DeviceTensor whole(ACL_INT64, DenseLayout({7}));
  EXPECT_REFUSED(161002, "out dtype is INT64, expected FLOAT or another float type", AngleV2,
                 x.handle(), Handle(whole));
}

TEST(ComplexNumbers, TheirSigns) {
  const Device device;
  Random random(77);
  const DeviceTensor self = Of(kNumbers, random),
                     out(ACL_COMPLEX64, RandomLayout(random, {7}, false)),
                     real(ACL_FLOAT, DenseLayout({7}));
  EXPECT_RUN(device, Sign, self.handle(), Handle(out));
  const std::vector<Number> got = NumbersOf(out);
  for (size_t i = 0; i < got.size(); ++i) {
    const Number wanted = kNumbers[i] == 0.0 ? 0 : kNumbers[i] / std::abs(kNumbers[i]);
    EXPECT_NEAR(std::abs(got[i] - wanted), 0, 1e-7) << i << ": " << got[i];
  }
  EXPECT_RUN(device, Sign, self.handle(), Handle(self));
  EXPECT_EQ(NumbersOf(self), got);
  EXPECT_REFUSED(161002, "result dtype is FLOAT, expected COMPLEX64, COMPLEX128", Sign,
                 self.handle(), Handle(real));
}

/// Random numbers of a type, real ones with an imaginary part of 0, and the tensor that holds them.
struct Factor {
  Factor(aclDataType dtype, const Dims& dims, Random& random)
      : tensor(dtype, RandomLayout(random, dims, false)) {
    const bool real = dtype != ACL_COMPLEX64 && dtype != ACL_COMPLEX128;
    const aclDataType part = dtype == ACL_COMPLEX64    ? ACL_FLOAT
                             : dtype == ACL_COMPLEX128 ? ACL_DOUBLE
                                                       : dtype;
    const size_t count = static_cast<size_t>(tensor.layout().count());
    const Doubles parts =
        ToDoubles(part, ToBytes(part, RealValues(random, real ? count : 2 * count, -9, 9)));
    tensor.Write(ToBytes(part, parts));
    for (size_t i = 0; i < count; ++i) {
      numbers.push_back(real ? Number(parts[i]) : Number(parts[2 * i], parts[2 * i + 1]));
    }
  }

  DeviceTensor tensor;
  std::vector<Number> numbers;
};

// A row by a matrix and a matrix by a column, of every pair of types of which one is complex.
TEST(ComplexNumbers, TheirProducts) {
  const Device device;
  Random random(79);
  for (const aclDataType one : {ACL_COMPLEX64, ACL_COMPLEX128}) {
    for (const aclDataType other :
         {ACL_COMPLEX64, ACL_COMPLEX128, ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT64, ACL_INT8}) {
      for (const bool turned : {false, true}) {
        SCOPED_TRACE(testing::Message() << one << " " << other << " " << turned);
        const Factor a(one, {3, 5}, random), b(other, {turned ? 3 : 1, turned ? 1 : 5}, random);
        const DeviceTensor out(one, RandomLayout(random, {3, 5}, false));
        const Factor &left = turned ? b : a, &right = turned ? a : b;
        EXPECT_RUN(device, Mul, left.tensor.handle(), right.tensor.handle(), Handle(out));
        EXPECT_RUN(device, InplaceMul, Handle(a.tensor), b.tensor.handle());
        const Doubles got = ToDoubles(one == ACL_COMPLEX64 ? ACL_FLOAT : ACL_DOUBLE, out.Read());
        for (size_t i = 0; i < a.numbers.size(); ++i) {
          const Number x = a.numbers[i], y = b.numbers[turned ? i / 5 : i % 5];
          const Number wanted(x.real() * y.real() - x.imag() * y.imag(),
                              x.real() * y.imag() + x.imag() * y.real());
          const double near = (one == ACL_COMPLEX64 ? 0x1p-24 : 0x1p-51) * 200;
          EXPECT_NEAR(got[2 * i], wanted.real(), near) << i;
          EXPECT_NEAR(got[2 * i + 1], wanted.imag(), near) << i;
        }
        EXPECT_EQ(a.tensor.Read(), out.Read());
        EXPECT_EQ(a.tensor.Damage() + out.Damage(), "");
      }
    }
  }
}

TEST(ComplexNumbers, ProductsAtTheEdges) {
  const Device device;
  Random random(80);
  // Products of floats do not overflow before they are added; infinity times 0 is NaN.
  const DeviceTensor self = Of({{3e38f, 3e38f}, {INFINITY, 0}, {1e-30f, 1}}, random),
                     out(ACL_COMPLEX64, DenseLayout({3}));
  EXPECT_RUN(device, Mul, self.handle(), self.handle(), Handle(out));
  const std::vector<Number> got = NumbersOf(out);
  EXPECT_EQ(got[0], Number(0, INFINITY));
  EXPECT_EQ(got[1].real(), INFINITY);
  EXPECT_TRUE(std::isnan(got[1].imag()));
  EXPECT_EQ(got[2], Number(-1, static_cast<double>(1e-30f) * 2));
  EXPECT_RUN(device, InplaceMul, Handle(self), self.handle());
  EXPECT_EQ(self.Read(), out.Read());
}

/// A scalar of COMPLEX128 or COMPLEX64.
template <class T>
std::unique_ptr<aclScalar, decltype(&aclDestroyScalar)> ScalarOf(std::complex<T> value) {
  const aclDataType dtype = sizeof(T) == 8 ? ACL_COMPLEX128 : ACL_COMPLEX64;
  return {aclCreateScalar(&value, dtype), &aclDestroyScalar};
}

// A real tensor and a complex scalar make complex numbers; either may be the factor of the other.
TEST(ComplexNumbers, MeetScalars) {
  const Device device;
  const DeviceTensor x = Make(ACL_FLOAT, {2}, {1, 2}), out(ACL_COMPLEX64, DenseLayout({2}));
  const auto scalar = ScalarOf<float>({1, 2});
  const auto wide = ScalarOf<double>({0, -1});
  const ScalarHandle one(1.0);
  EXPECT_RUN(device, Muls, x.handle(), scalar.get(), Handle(out));
  EXPECT_EQ(NumbersOf(out), (std::vector<Number>{{1, 2}, {2, 4}}));
  EXPECT_RUN(device, InplaceMuls, Handle(out), wide.get());
  EXPECT_EQ(NumbersOf(out), (std::vector<Number>{{2, -1}, {4, -2}}));
  EXPECT_RUN(device, Adds, x.handle(), one.get(), scalar.get(), Handle(out));
  EXPECT_EQ(NumbersOf(out), (std::vector<Number>{{2, 2}, {3, 2}}));
  EXPECT_RUN(device, InplaceFillScalar, Handle(out), scalar.get());
  EXPECT_EQ(NumbersOf(out), (std::vector<Number>{{1, 2}, {1, 2}}));
  const DeviceTensor truth(ACL_BOOL, DenseLayout({2}));
  EXPECT_RUN(device, EqScalar, out.handle(), scalar.get(), Handle(truth));
  EXPECT_EQ(ValuesOf(truth), (Doubles{1, 1}));
}

// They are live; what is wrong is their type, or what a real tensor cannot hold.
TEST(ComplexNumbers, ScalarsThatAreRefused) {
  const Device device;
  const DeviceTensor x = Make(ACL_FLOAT, {2}, {1, 2});
  const auto scalar = ScalarOf<float>({1, 2});
  const auto real = ScalarOf<float>({3, 0});
  EXPECT_REFUSED(161002, "out dtype is FLOAT, expected COMPLEX64, COMPLEX128", Muls, x.handle(),
                 scalar.get(), Handle(x));
  EXPECT_REFUSED(161002, "other dtype is COMPLEX64, expected a real type", ClampMax, x.handle(),
                 scalar.get(), Handle(x));
  EXPECT_REFUSED(161002, "value dtype is COMPLEX64, expected a real type", InplaceFillScalar,
                 Handle(x), scalar.get());
  EXPECT_RUN(device, InplaceFillScalar, Handle(x), real.get());
  EXPECT_EQ(ValuesOf(x), (Doubles{3, 3}));
}

// The general formula of a quotient, which the vendor's pages keep where it is by 0.
TEST(ComplexNumbers, QuotientsByZero) {
  const Device device;
  Random random(82);
  const DeviceTensor self = Of({{1, 2}, {0, 0}}, random), zero = Of({{0, 0}, {0, 0}}, random),
                     out(ACL_COMPLEX64, DenseLayout({2}));
  EXPECT_RUN(device, Div, self.handle(), zero.handle(), Handle(out));
  for (const Number& each : NumbersOf(out)) {
    EXPECT_TRUE(std::isnan(each.real()) && std::isnan(each.imag())) << each;
  }
}

TEST(ComplexNumbers, ProductsThatAreRefused) {
  const Device device;
  Random random(81);
  const DeviceTensor self = Of({1, 2, 3}, random), out(ACL_COMPLEX64, DenseLayout({3})),
                     real = Make(ACL_FLOAT, {3}, {1, 2, 3}), odd = Make(ACL_FLOAT, {2}, {1, 2}),
                     large(ACL_COMPLEX64, DenseLayout({2, 3})), bits(ACL_UINT64, DenseLayout({3}));
  EXPECT_REFUSED(161002, "out dtype is FLOAT, expected COMPLEX64, COMPLEX128", Mul, real.handle(),
                 self.handle(), Handle(real));
  EXPECT_REFUSED(161002, "selfRef dtype is FLOAT, expected COMPLEX64, COMPLEX128", InplaceMul,
                 Handle(real), self.handle());
  EXPECT_RUN(device, Mul, real.handle(), real.handle(), Handle(out));
  EXPECT_EQ(NumbersOf(out), (std::vector<Number>{1, 4, 9}));
  EXPECT_REFUSED(161002, "other dtype is UINT64", Mul, self.handle(), bits.handle(), Handle(out));
  EXPECT_REFUSED(161002, "other shape is (2)", Mul, self.handle(), odd.handle(), Handle(out));
  EXPECT_REFUSED(161002, "out shape is (2, 3), expected (3)", Mul, self.handle(), real.handle(),
                 Handle(large));
  EXPECT_REFUSED(161002, "selfRef shape is (3), expected (2, 3)", InplaceMul, Handle(self),
                 large.handle());
}

TEST(ComplexNumbers, AreCleared) {
  const Device device;
  Random random(78);
  for (const aclDataType dtype : {ACL_COMPLEX64, ACL_COMPLEX128}) {
    const DeviceTensor self(dtype, RandomLayout(random, {3, 5}, false));
    EXPECT_RUN(device, InplaceZero, Handle(self));
    for (const std::byte each : self.Read()) EXPECT_EQ(each, std::byte{0});
  }
}

TEST(ComplexNumbers, AreMadeOfTwoParts) {
  const Device device;
  const DeviceTensor real = Make(ACL_FLOAT, {2}, {1, 2}), half = Make(ACL_FLOAT16, {2}, {1, 2}),
                     wide = Make(ACL_DOUBLE, {2}, {1, 2}), out(ACL_COMPLEX64, DenseLayout({2}));
  EXPECT_RUN(device, Complex, real.handle(), real.handle(), Handle(out));
  EXPECT_EQ(NumbersOf(out), (std::vector<Number>{{1, 1}, {2, 2}}));
  const DeviceTensor wider(ACL_COMPLEX128, DenseLayout({2}));
  EXPECT_RUN(device, Complex, wide.handle(), wide.handle(), Handle(wider));
  EXPECT_EQ(ToDoubles(ACL_DOUBLE, wider.Read()), (Doubles{1, 1, 2, 2}));
  EXPECT_REFUSED(161002, "imag dtype is DOUBLE, expected that of real, FLOAT", Complex,
                 real.handle(), wide.handle(), Handle(out));
  const DeviceTensor narrow(ACL_COMPLEX32, DenseLayout({2}));
  EXPECT_RUN(device, Complex, half.handle(), half.handle(), Handle(narrow));
  EXPECT_EQ(ToDoubles(ACL_FLOAT16, narrow.Read()), (Doubles{1, 1, 2, 2}));
  EXPECT_REFUSED(161002, "out dtype is COMPLEX64, expected COMPLEX32", Complex, half.handle(),
                 half.handle(), Handle(out));
  EXPECT_REFUSED(161002, "out dtype is COMPLEX32, expected COMPLEX64", Complex, real.handle(),
                 real.handle(), Handle(narrow));
  EXPECT_REFUSED(161002, "out dtype is COMPLEX64, expected COMPLEX128", Complex, wide.handle(),
                 wide.handle(), Handle(out));
  EXPECT_REFUSED(161002, "angle dtype is DOUBLE, expected FLOAT", Polar, real.handle(),
                 wide.handle(), Handle(out));
}

TEST(ComplexNumbers, OfHalvesAreOnTwoProducts) {
  for (const char* product : {"Ascend910A", "Ascend950PR_9579", "Ascend310P3"}) {
    const Device device({{"OPENACLNN_SOC", product}});
    const DeviceTensor half = Make(ACL_FLOAT16, {2}, {1, 2}),
                       narrow(ACL_COMPLEX32, DenseLayout({2}));
    EXPECT_REFUSED(161002, "out dtype is COMPLEX32", Complex, half.handle(), half.handle(),
                   Handle(narrow));
  }
}

// As torch-npu does where it copies conjugates: a part of the result is already in its place.
TEST(ComplexNumbers, MadeOfTheirOwnParts) {
  const Device device;
  const DeviceTensor out(ACL_COMPLEX64, DenseLayout({3})), fresh = Make(ACL_FLOAT, {3}, {7, 8, 9});
  const int64_t dims[] = {3}, strides[] = {2}, storage[] = {6};
  const auto part = [&](int64_t first) {
    return std::unique_ptr<const aclTensor, decltype(&aclDestroyTensor)>(
        aclCreateTensor(dims, 1, ACL_FLOAT, strides, first, ACL_FORMAT_ND, storage, 1, out.data()),
        &aclDestroyTensor);
  };
  const auto real = part(0), imag = part(1), behind = part(3);
  EXPECT_RUN(device, Complex, fresh.handle(), fresh.handle(), Handle(out));
  const DeviceTensor other = Make(ACL_FLOAT, {3}, {-1, -2, -3});
  EXPECT_RUN(device, Complex, real.get(), other.handle(), Handle(out));
  EXPECT_EQ(NumbersOf(out), (std::vector<Number>{{7, -1}, {8, -2}, {9, -3}}));
  EXPECT_RUN(device, Complex, other.handle(), imag.get(), Handle(out));
  EXPECT_EQ(NumbersOf(out), (std::vector<Number>{{-1, -1}, {-2, -2}, {-3, -3}}));
  // The two change places: each run of both is read before either is written.
  EXPECT_RUN(device, Complex, fresh.handle(), imag.get(), Handle(out));
  EXPECT_RUN(device, Complex, imag.get(), real.get(), Handle(out));
  EXPECT_EQ(NumbersOf(out), (std::vector<Number>{{-1, 7}, {-2, 8}, {-3, 9}}));
}

TEST(ComplexNumbers, OfHalvesMadeOfTheirOwnParts) {
  const Device device;
  const DeviceTensor out(ACL_COMPLEX32, DenseLayout({3})),
      fresh = Make(ACL_FLOAT16, {3}, {7, 8, 9}), other = Make(ACL_FLOAT16, {3}, {-1, -2, -3});
  EXPECT_RUN(device, Complex, fresh.handle(), fresh.handle(), Handle(out));
  const int64_t dims[] = {3}, strides[] = {2}, storage[] = {6};
  const std::unique_ptr<const aclTensor, decltype(&aclDestroyTensor)> real(
      aclCreateTensor(dims, 1, ACL_FLOAT16, strides, 0, ACL_FORMAT_ND, storage, 1, out.data()),
      &aclDestroyTensor);
  EXPECT_RUN(device, Complex, real.get(), other.handle(), Handle(out));
  EXPECT_EQ(ToDoubles(ACL_FLOAT16, out.Read()), (Doubles{7, -1, 8, -2, 9, -3}));
}

// Elements as large as a part but of another type, such as complex numbers of half the size, are
// refused: they would be overwritten before they are read.
TEST(ComplexNumbers, OnlyTheirPartsMayBeOverwritten) {
  const Device device;
  const DeviceTensor out(ACL_COMPLEX128, DenseLayout({3}));
  const int64_t dims[] = {3}, strides[] = {2}, storage[] = {6};
  for (const aclDataType dtype : {ACL_DOUBLE, ACL_COMPLEX64, ACL_INT64}) {
    const std::unique_ptr<const aclTensor, decltype(&aclDestroyTensor)> halves(
        aclCreateTensor(dims, 1, dtype, strides, 0, ACL_FORMAT_ND, storage, 1, out.data()),
        &aclDestroyTensor);
    const Outcome outcome = RUN(device, InplaceCopy, Handle(out), halves.get());
    EXPECT_EQ(outcome.code, dtype == ACL_DOUBLE ? 0 : 161002) << dtype << ": " << outcome.message;
  }
}

}  // namespace
}  // namespace openaclnn::test
