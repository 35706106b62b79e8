// SPDX-License-Identifier: Apache-2.0
// Functions, activations and their gradients, over types and views.
#include <bit>
#include <map>
#include <numeric>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

using Unary = aclnnStatus (*)(const aclTensor*, aclTensor*, uint64_t*, aclOpExecutor**);

struct UnaryCase {
  const char* name;
  Unary plan;
  Phase2 run;
  double low, high;
  double (*want)(double);
};

double Softplus(double x) { return std::log1p(std::exp(x)); }
double Clip(double x, double low, double high) { return std::min(std::max(x, low), high); }

/// This calls phase 1 of a function, whose output is const where the vendor's page has it so.
#define PHASE_1(name)                                                                    \
  [](const aclTensor* self, aclTensor* out, uint64_t* bytes, aclOpExecutor** executor) { \
    return aclnn##name##GetWorkspaceSize(self, out, bytes, executor);                    \
  }

#define UNARY_CASE(name, low, high, formula)                                       \
  {                                                                                \
#name, PHASE_1(name), aclnn##name, low, high, [](double x) { return formula; } \
  }

const UnaryCase kUnary[] = {
    UNARY_CASE(Acos, -1, 1, std::acos(x)),
    UNARY_CASE(Acosh, 1.1, 4, std::acosh(x)),
    UNARY_CASE(Asin, -1, 1, std::asin(x)),
    UNARY_CASE(Asinh, -4, 4, std::asinh(x)),
    UNARY_CASE(Atan, -4, 4, std::atan(x)),
    UNARY_CASE(Atanh, -0.9, 0.9, std::atanh(x)),
    UNARY_CASE(Cosh, -3, 3, std::cosh(x)),
    UNARY_CASE(Erfc, -2, 2, std::erfc(x)),
    UNARY_CASE(Exp2, -4, 4, std::exp2(x)),
    UNARY_CASE(Frac, -4, 4, x - std::trunc(x)),
    UNARY_CASE(Log10, 0.1, 9, std::log10(x)),
    UNARY_CASE(Log2, 0.1, 9, std::log2(x)),
    UNARY_CASE(Sinc, -3, 3, x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x)),
    UNARY_CASE(Sinh, -3, 3, std::sinh(x)),
    UNARY_CASE(Tan, -1.2, 1.2, std::tan(x)),
    UNARY_CASE(Hardsigmoid, -5, 5, Clip(x + 3, 0, 6) / 6),
    UNARY_CASE(Hardswish, -5, 5, x* Clip(x + 3, 0, 6) / 6),
    UNARY_CASE(LogSigmoid, -5, 5, -Softplus(-x)),
    UNARY_CASE(Mish, -5, 5, x* std::tanh(Softplus(x))),
};

bool TakesDoubles(const UnaryCase& each) {
  return each.run != aclnnFrac && each.run != aclnnLogSigmoid && each.run != aclnnMish;
}

TEST(SupportingElementwise, FunctionsOfOneTensor) {
  const Device device;
  Random random(11);
  for (const UnaryCase& each : kUnary) {
    for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}) {
      if (dtype == ACL_DOUBLE && !TakesDoubles(each)) continue;
      SCOPED_TRACE(testing::Message() << each.name << " " << dtype);
      const DeviceTensor self =
          Make(dtype, {3, 50}, RealValues(random, 150, each.low, each.high), random);
      const DeviceTensor out(dtype, RandomLayout(random, {3, 50}, false));
      ASSERT_EQ(Call(device, each.run,
                     [&](auto... o) { return each.plan(self.handle(), Handle(out), o...); })
                    .message,
                "");
      Doubles want = ValuesOf(self);
      for (double& value : want) value = each.want(value);
      ExpectNear(ValuesOf(out), want, dtype, 0, dtype == ACL_DOUBLE ? 1e-13 : 3e-7);
      EXPECT_EQ(out.Damage(), "");
    }
  }
}

// Those of float that loops make vectors of, up to how many units in the last place off.
const UnaryCase kVectors[] = {
    UNARY_CASE(Exp, 0, 1.05, std::exp(x)),     UNARY_CASE(Expm1, 0, 0.51, std::expm1(x)),
    UNARY_CASE(Log, 0, 0.51, std::log(x)),     UNARY_CASE(Log1p, 0, 0.51, std::log1p(x)),
    UNARY_CASE(Log2, 0, 0.51, std::log2(x)),   UNARY_CASE(Log10, 0, 0.51, std::log10(x)),
    UNARY_CASE(Tanh, 0, 0.51, std::tanh(x)),   UNARY_CASE(Erf, 0, 1.3, std::erf(x)),
    UNARY_CASE(Sin, 0, 0.51, std::sin(x)),     UNARY_CASE(Cos, 0, 0.51, std::cos(x)),
    UNARY_CASE(Tan, 0, 0.51, std::tan(x)),     UNARY_CASE(Asin, 0, 0.51, std::asin(x)),
    UNARY_CASE(Acos, 0, 0.51, std::acos(x)),   UNARY_CASE(Atan, 0, 0.51, std::atan(x)),
    UNARY_CASE(Sinh, 0, 0.51, std::sinh(x)),   UNARY_CASE(Cosh, 0, 0.51, std::cosh(x)),
    UNARY_CASE(Asinh, 0, 0.51, std::asinh(x)), UNARY_CASE(Acosh, 0, 0.51, std::acosh(x)),
    UNARY_CASE(Atanh, 0, 0.51, std::atanh(x)), UNARY_CASE(Exp2, 0, 0.51, std::exp2(x)),
    UNARY_CASE(Erfc, 0, 0.51, std::erfc(x)),
};

/// Floats of every sign and magnitude, NaN and infinities among them.
std::vector<float> EveryMagnitude() {
  std::vector<float> values = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 0x1p-149f};
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 19997) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  return values;
}

/// Units in the last place between a float and what it stands for.
double Ulps(float got, double want) {
  const auto nearest = static_cast<float>(want);
  if (got == nearest || (std::isnan(got) && std::isnan(nearest))) return 0.5;
  if (!std::isfinite(got) || !std::isfinite(nearest)) return INFINITY;
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::abs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

TEST(SupportingElementwise, FunctionsOfFloatsAreNear) {
  const std::vector<float> values = EveryMagnitude();
  std::vector<std::byte> content(values.size() * sizeof(float));
  std::memcpy(content.data(), values.data(), content.size());
  const Dims dims = {static_cast<int64_t>(values.size())};
  // By function and by whether there is FMA: without it bits are its own.
  std::map<std::pair<const UnaryCase*, bool>, std::vector<std::byte>> results;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    DeviceTensor self(ACL_FLOAT, DenseLayout(dims));
    const DeviceTensor out(ACL_FLOAT, DenseLayout(dims));
    self.Write(content);
    for (const UnaryCase& each : kVectors) {
      SCOPED_TRACE(testing::Message() << each.name << " " << setting);
      ASSERT_EQ(Call(device, each.run,
                     [&](auto... o) { return each.plan(self.handle(), Handle(out), o...); })
                    .message,
                "");
      const auto [found, fresh] = results.emplace(std::pair(&each, IsFused(setting)), out.Read());
      EXPECT_TRUE(fresh || out.Read() == found->second) << "other bits than before";
    }
  });
  for (const auto& [key, bytes] : results) {
    const UnaryCase& each = *key.first;
    std::vector<float> got(values.size());
    std::memcpy(got.data(), bytes.data(), content.size());
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_LE(Ulps(got[i], each.want(values[i])), each.high)
          << each.name << "(" << values[i] << ") " << got[i] << (key.second ? "" : " without FMA");
    }
  }
}

/// Every number of a type of 16 bits, `times` over.
std::vector<std::byte> EveryShort(size_t times) {
  std::vector<uint16_t> numbers(times * 65536);
  std::iota(numbers.begin(), numbers.end(), uint16_t{0});
  std::vector<std::byte> bytes(numbers.size() * sizeof(uint16_t));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

// Many numbers of 16 bits are looked up in a table of all results, few are computed.
TEST(SupportingElementwise, FunctionsOfManyShortsAreThoseOfFew) {
  const Device device;
  constexpr size_t kTimes = 5;
  std::vector<UnaryCase> cases(std::begin(kUnary), std::end(kUnary));
  cases.insert(cases.end(), std::begin(kVectors), std::end(kVectors));
  cases.push_back(UNARY_CASE(Gelu, 0, 0, x));
  cases.push_back(UNARY_CASE(Sigmoid, 0, 0, x));
  const auto result = [&](const UnaryCase& each, aclDataType dtype, size_t times, bool in_place) {
    const Layout layout = DenseLayout({static_cast<int64_t>(times) * 65536});
    DeviceTensor self(dtype, layout), other(dtype, layout);
    const DeviceTensor& out = in_place ? self : other;
    self.Write(EveryShort(times));
    EXPECT_EQ(Call(device, each.run,
                   [&](auto... o) { return each.plan(self.handle(), Handle(out), o...); })
                  .message,
              "");
    return out.Read();
  };
  for (const UnaryCase& each : cases) {
    for (const aclDataType dtype : {ACL_FLOAT16, ACL_BF16}) {
      SCOPED_TRACE(testing::Message() << each.name << " " << dtype);
      const std::vector<std::byte> once = result(each, dtype, 1, false);
      std::vector<std::byte> want;
      for (size_t i = 0; i < kTimes; ++i) want.insert(want.end(), once.begin(), once.end());
      EXPECT_TRUE(result(each, dtype, kTimes, false) == want) << "other bits";
      EXPECT_TRUE(result(each, dtype, kTimes, true) == want) << "other bits in place";
    }
  }
}

// Scalars are part of a table; views that are not dense, and conversions to other types, take none.
TEST(SupportingElementwise, ManyShortsWithScalarsInViews) {
  const Device device;
  const int64_t n = 5 * 65536;
  const ScalarHandle half(0.5), two(2.0), three(3.0);
  DeviceTensor dense(ACL_FLOAT16, DenseLayout({n}));
  DeviceTensor sparse(ACL_FLOAT16, Layout{{n}, {2}, 1, 2 * n});
  dense.Write(EveryShort(5));
  sparse.Write(EveryShort(5));
  const DeviceTensor out(ACL_FLOAT16, DenseLayout({n})), thin(ACL_FLOAT16, sparse.layout()),
      wide(ACL_FLOAT, DenseLayout({n})), brain(ACL_BF16, DenseLayout({n}));
  const auto elu = [&](const DeviceTensor& self, const DeviceTensor& to) {
    EXPECT_RUN(device, Elu, self.handle(), half.get(), two.get(), three.get(), Handle(to));
    return to.Read();
  };
  const std::vector<std::byte> want = elu(sparse, out);
  EXPECT_TRUE(elu(dense, out) == want);
  EXPECT_TRUE(elu(dense, thin) == want);
  const Doubles exact = (elu(dense, wide), ValuesOf(wide));
  EXPECT_TRUE(ToBytes(ACL_FLOAT16, exact) == want);
  EXPECT_TRUE(elu(dense, brain) == ToBytes(ACL_BF16, exact));
}

struct WideCase {
  const char* name;
  Unary plan;
  Phase2 run;
  long double (*want)(long double);
};

#define WIDE_CASE(name, function)                      \
  {                                                    \
#name, aclnn##name##GetWorkspaceSize, aclnn##name, \
        [](long double x) { return std::function(x); } \
  }

/// Doubles of every sign and magnitude, and many where exponentials and logarithms are neither 0
/// nor infinite, or near 1.
Doubles EveryWideMagnitude() {
  Doubles values = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 0x1p-1074, 0x1p-1022, 709.7, 709.8};
  constexpr uint64_t kStep = (uint64_t{1} << 46) - 59;
  for (uint64_t bits = 0; bits < UINT64_MAX - kStep; bits += kStep) {
    values.push_back(std::bit_cast<double>(bits));
  }
  for (double x = -760; x < 720; x += 0.01234567) values.push_back(x);
  for (double x = -1; x < 1; x += 1.234567e-5) values.insert(values.end(), {x, 1 + x});
  return values;
}

TEST(SupportingElementwise, FunctionsOfDoublesAreNear) {
  const Doubles values = EveryWideMagnitude();
  const Dims dims = {static_cast<int64_t>(values.size())};
  const Device device;
  const DeviceTensor self = Make(ACL_DOUBLE, dims, values), out(ACL_DOUBLE, DenseLayout(dims));
  for (const WideCase& each :
       {WideCase WIDE_CASE(Exp, exp), WIDE_CASE(Log, log), WIDE_CASE(Log1p, log1p)}) {
    ASSERT_EQ(Call(device, each.run,
                   [&](auto... o) { return each.plan(self.handle(), Handle(out), o...); })
                  .message,
              "");
    const Doubles got = ValuesOf(out);
    for (size_t i = 0; i < values.size(); ++i) {
      const long double want = each.want(values[i]);
      const auto nearest = static_cast<double>(want);
      if (got[i] == nearest || (std::isnan(got[i]) && std::isnan(nearest))) continue;
      int exponent = 0;
      std::frexp(nearest, &exponent);
      const double unit = std::ldexp(1.0, std::max(exponent - 53, -1074));
      ASSERT_LE(static_cast<double>(std::abs(got[i] - want)) / unit, 1.1)
          << each.name << "(" << values[i] << ") " << got[i];
    }
  }
}

TEST(SupportingElementwise, TheInverseOfErf) {
  const Device device;
  const Doubles given = {0,        1e-30,     -1e-3, 0.3, -0.5,   0.9, -0.999,
                         1 - 1e-7, 1 - 1e-15, 1,     -1,  1.0001, NAN};
  const DeviceTensor self = Make(ACL_DOUBLE, {13}, given), out(ACL_DOUBLE, DenseLayout({13}));
  EXPECT_RUN(device, Erfinv, self.handle(), Handle(out));
  const Doubles got = ValuesOf(out);
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(std::erf(got[i]), given[i], 2e-16) << i << ": " << got[i];
  }
  EXPECT_NEAR(got[1] / 1e-30, std::sqrt(M_PI) / 2, 1e-12);
  EXPECT_EQ(got[9], INFINITY);
  EXPECT_EQ(got[10], -INFINITY);
  EXPECT_TRUE(std::isnan(got[11]) && std::isnan(got[12]));
}

TEST(SupportingElementwise, FunctionsOfTwoTensors) {
  const Device device;
  Random random(12);
  const auto check = [&](auto plan, Phase2 run, auto want, double low) {
    const DeviceTensor a = Make(ACL_FLOAT, {4, 1, 5}, RealValues(random, 20, low, 3), random);
    const DeviceTensor b = Make(ACL_FLOAT, {3, 1}, RealValues(random, 3, 0.3, 3), random);
    const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {4, 3, 5}, false));
    ASSERT_EQ(Call(device, run,
                   [&](auto... o) { return plan(a.handle(), b.handle(), Handle(out), o...); })
                  .message,
              "");
    const Doubles x = ValuesOf(a), y = ValuesOf(b);
    Doubles expected;
    for (size_t i = 0; i < 60; ++i) expected.push_back(want(x[i / 15 * 5 + i % 5], y[i / 5 % 3]));
    ExpectNear(ValuesOf(out), expected, ACL_FLOAT, 0, 1e-6);
  };
  check(
      aclnnAtan2GetWorkspaceSize, aclnnAtan2, [](double a, double b) { return std::atan2(a, b); },
      -3);
  check(
      aclnnFmodTensorGetWorkspaceSize, aclnnFmodTensor,
      [](double a, double b) { return std::fmod(a, b); }, -3);
  check(
      aclnnLogAddExpGetWorkspaceSize, aclnnLogAddExp,
      [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); }, -3);
  check(
      aclnnLogAddExp2GetWorkspaceSize, aclnnLogAddExp2,
      [](double a, double b) { return std::log2(std::exp2(a) + std::exp2(b)); }, -3);
  check(
      aclnnXLogYTensorGetWorkspaceSize, aclnnXLogYTensor,
      [](double a, double b) { return a * std::log(b); }, -3);
  check(
      aclnnClampMinTensorGetWorkspaceSize, aclnnClampMinTensor,
      [](double a, double b) { return std::max(a, b); }, -3);
}

TEST(SupportingElementwise, IntegersDivideInEveryMode) {
  const Device device;
  const DeviceTensor a = Make(ACL_INT32, {6}, {7, -7, 7, -7, 5, -2147483648.0});
  const DeviceTensor b = Make(ACL_INT32, {6}, {2, 2, -2, -2, 0, -1});
  const DeviceTensor out(ACL_INT32, DenseLayout({6}));
  EXPECT_RUN(device, DivMod, a.handle(), b.handle(), 1, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{3, -3, -3, 3, 0, -2147483648.0}));
  EXPECT_RUN(device, DivMod, a.handle(), b.handle(), 2, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{3, -4, -4, 3, 0, -2147483648.0}));
  EXPECT_RUN(device, FmodTensor, a.handle(), b.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, -1, 1, -1, 0, 0}));
  const ScalarHandle two(int64_t{2});
  EXPECT_RUN(device, RemainderScalarTensor, two.get(), b.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{0, 0, 0, 0, 0, 0}));
  EXPECT_RUN(device, LeftShift, a.handle(), a.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{7 << 7, 0, 7 << 7, 0, 5 << 5, 0}));
  EXPECT_RUN(device, RightShift, a.handle(), Handle(a), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{0, -1, 0, -1, 0, -1}));
  const DeviceTensor real(ACL_FLOAT, DenseLayout({6}));
  EXPECT_RUN(device, DivMod, a.handle(), b.handle(), 0, Handle(real));
  EXPECT_EQ(ValuesOf(real), (Doubles{3.5, -3.5, -3.5, 3.5, INFINITY, 2147483648.0}));
  EXPECT_RUN(device, DivMods, a.handle(), two.get(), 0, Handle(real));
  EXPECT_EQ(ValuesOf(real), (Doubles{3.5, -3.5, 3.5, -3.5, 2.5, -1073741824.0}));
  EXPECT_REFUSED(161002, "out dtype is INT32, expected a float type", DivMod, a.handle(),
                 b.handle(), 0, Handle(out));
  EXPECT_REFUSED(161002, "mode value is 3, expected 0, 1 or 2", DivMods, a.handle(), two.get(), 3,
                 Handle(out));
}

TEST(SupportingElementwise, BoundsMayBeLeftOut) {
  const Device device;
  const DeviceTensor x = Make(ACL_FLOAT, {2, 3}, {0, 1, 2, 3, 4, NAN});
  const DeviceTensor low = Make(ACL_FLOAT, {3}, {1, 1, 1}), high = Make(ACL_FLOAT, {}, {3});
  const DeviceTensor out(ACL_FLOAT, DenseLayout({2, 3}));
  const aclTensor* none = nullptr;
  EXPECT_RUN(device, ClampTensor, x.handle(), low.handle(), high.handle(), Handle(out));
  ExpectNear(ValuesOf(out), {1, 1, 2, 3, 3, NAN}, ACL_FLOAT);
  EXPECT_RUN(device, ClampTensor, x.handle(), none, high.handle(), Handle(out));
  ExpectNear(ValuesOf(out), {0, 1, 2, 3, 3, NAN}, ACL_FLOAT);
  EXPECT_RUN(device, ClampTensor, x.handle(), low.handle(), none, Handle(out));
  ExpectNear(ValuesOf(out), {1, 1, 2, 3, 4, NAN}, ACL_FLOAT);
}

TEST(SupportingElementwise, WhatIsNotANumber) {
  const Device device;
  const DeviceTensor x = Make(ACL_FLOAT, {4}, {NAN, INFINITY, -INFINITY, -1});
  const DeviceTensor out(ACL_FLOAT, DenseLayout({4})), truth(ACL_BOOL, DenseLayout({4}));
  EXPECT_RUN(device, NanToNum, x.handle(), 5.0f, 6.0f, 7.0f, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{5, 6, 7, -1}));
  EXPECT_RUN(device, InplaceNanToNum, Handle(x), 1.0f, 2.0f, 3.0f);
  EXPECT_EQ(ValuesOf(x), (Doubles{1, 2, 3, -1}));
  EXPECT_RUN(device, Signbit, x.handle(), Handle(truth));
  EXPECT_EQ(ValuesOf(truth), (Doubles{0, 0, 0, 1}));
  const DeviceTensor y = Make(ACL_FLOAT, {3}, {1.25, 14.96, -2.349}),
                     z(ACL_FLOAT, DenseLayout({3}));
  EXPECT_RUN(device, RoundDecimals, y.handle(), 1, Handle(z));
  ExpectNear(ValuesOf(z), {1.2, 15, -2.3}, ACL_FLOAT);
}

const Doubles kPoints = {-4.1, -2.2, -1.3, -0.4, 0.3, 0.8, 1.7, 3.6};

using In = const aclTensor*;

/// call(3, x, out) as tensors of the type gives out.
template <class Call>
Doubles With(const Doubles& x, const Call& call, aclDataType dtype) {
  const auto n = static_cast<int64_t>(x.size());
  const DeviceTensor self = Make(dtype, {n}, x), out(dtype, DenseLayout({n})),
                     grad = Make(dtype, {n}, Doubles(x.size(), 3));
  call(grad.handle(), self.handle(), Handle(out));
  return ValuesOf(out);
}

/// forward(x, out) against function(x), and backward(g, x, out) against the differences of that,
/// which is made of numbers up to `largest`.
template <class Function, class Forward, class Backward>
void ExpectSlope(const Function& function, const Forward& forward, const Backward& backward,
                 aclDataType dtype = ACL_FLOAT, double largest = 3) {
  const Doubles points = Held(dtype, kPoints), slopes = With(points, backward, dtype);
  const auto call = [&](In, In self, aclTensor* out) { forward(self, out); };
  Doubles want = points;
  for (double& value : want) value = function(value);
  ExpectNear(With(points, call, dtype), want, dtype, 0, dtype == ACL_DOUBLE ? 0 : 3e-7);
  // The differences are off by 1e-7, slopes of float by up to four roundings more.
  const double step = 1e-6, roundings = dtype == ACL_DOUBLE ? 0 : 4 * 0x1p-24;
  for (size_t i = 0; i < points.size(); ++i) {
    const double slope = 3 * (function(points[i] + step) - function(points[i] - step)) / (2 * step);
    EXPECT_NEAR(slopes[i], slope, 1e-7 + roundings * largest) << points[i];
  }
}

#define FORWARD(name, ...) \
  [&](In x, aclTensor* out) { EXPECT_RUN(device, name, x, ##__VA_ARGS__, out); }
#define BACKWARD(name, ...) \
  [&](In g, In x, aclTensor* out) { EXPECT_RUN(device, name##Backward, g, x, ##__VA_ARGS__, out); }
#define SLOPE(function, name, ...) \
  SCOPED_TRACE(#name);             \
  ExpectSlope(function, FORWARD(name, ##__VA_ARGS__), BACKWARD(name, ##__VA_ARGS__))

TEST(SupportingElementwise, GradientsAreSlopes) {
  const Device device;
  const ScalarHandle half(0.5), one(1.0), two(2.0), top(20.0), low(-1.5);
  SLOPE([](double x) { return Clip(x + 3, 0, 6) / 6; }, Hardsigmoid);
  SLOPE([](double x) { return x * Clip(x + 3, 0, 6) / 6; }, Hardswish);
  SLOPE([](double x) { return x * std::tanh(Softplus(x)); }, Mish);
  SLOPE([](double x) { return std::abs(x) > 0.5 ? x : 0; }, Hardshrink, half.get());
  SLOPE([](double x) { return x - Clip(x, -0.5, 0.5); }, Softshrink, half.get());
  SLOPE([](double x) { return Softplus(2 * x) / 2; }, Softplus, two.get(), top.get());
  SLOPE([](double x) { return Clip(x, -1.5, 1); }, Hardtanh, low.get(), one.get());
}

TEST(SupportingElementwise, GradientsWithMoreThanTheFunctionHas) {
  const Device device;
  const ScalarHandle half(0.5), one(1.0), two(2.0), slope(0.1);
  ExpectSlope([](double x) { return 2 * (x > 0 ? x : 0.5 * std::expm1(x)); },
              FORWARD(Elu, half.get(), two.get(), one.get()),
              [&](In g, In x, aclTensor* out) {
                EXPECT_RUN(device, EluBackward, g, half.get(), two.get(), one.get(), false, x, out);
              });
  for (const aclDataType dtype : {ACL_FLOAT, ACL_DOUBLE}) {
    ExpectSlope([](double x) { return x > 0 ? x : 0.1 * x; }, FORWARD(LeakyRelu, slope.get()),
                BACKWARD(LeakyRelu, slope.get(), false), dtype);
  }
  ExpectSlope([](double x) { return -Softplus(-x); },
              [&](In x, aclTensor* out) { EXPECT_RUN(device, LogSigmoidForward, x, out, nullptr); },
              BACKWARD(LogSigmoid, nullptr));
  char tanh[] = "tanh", none[] = "none";
  const auto backward = [&](char* approximate) {
    return [&device, approximate](In g, In x, aclTensor* out) {
      EXPECT_RUN(device, GeluBackwardV2, g, x, approximate, out);
    };
  };
  ExpectSlope([](double x) { return x / 2 * std::erfc(-x / std::sqrt(2)); }, FORWARD(GeluV2, 0),
              backward(none));
  ExpectSlope(
      [](double x) {
        return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
      },
      FORWARD(GeluV2, 1), backward(tanh), ACL_FLOAT, 16);  // 3x/2 times the slope of tanh's x
}

#undef FORWARD
#undef BACKWARD
#undef SLOPE

TEST(SupportingElementwise, TheGradientOfEluFromItsResult) {
  const Device device;
  const ScalarHandle alpha(0.5), scale(2.0), one(1.0);
  const DeviceTensor x = Floats({3}, {-2, -0.1, 3}), y = EmptyFloats({3}),
                     g = Floats({3}, {1, 2, 3}), a = EmptyFloats({3}), b = EmptyFloats({3});
  EXPECT_RUN(device, Elu, x.handle(), alpha.get(), scale.get(), one.get(), Handle(y));
  EXPECT_RUN(device, EluBackward, g.handle(), alpha.get(), scale.get(), one.get(), false,
             x.handle(), Handle(a));
  EXPECT_RUN(device, EluBackward, g.handle(), alpha.get(), scale.get(), one.get(), true, y.handle(),
             Handle(b));
  ExpectNear(ValuesOf(b), ValuesOf(a), ACL_FLOAT);
}

}  // namespace
}  // namespace openaclnn::test
