// SPDX-License-Identifier: Apache-2.0
// Functions of two floats that loops make vectors of: powers, remainders, quotients and angles, of
// every magnitude, against the C library's in double, under each setting.
#include <bit>
#include <cmath>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

using Function = double (*)(double, double);

/// Pairs of floats of every magnitude, and of what is special.
struct Pairs {
  Pairs() {
    Random random(17);
    const Doubles special = {0.0,  -0.0,   1,        -1,        2,      3,        0.5,       -0.5,
                             1.5,  -2,     4,        -3,        7,      INFINITY, -INFINITY, NAN,
                             1e30, -1e-30, 0x1p-149, -0x1p-149, 0x1p29, 0x1p53,   3.4e38};
    for (const double x : special) {
      for (const double y : special) Add(x, y);
    }
    for (int i = 0; i < 20000; ++i) Add(Any(random), Any(random));
    for (const double x : RealValues(random, 20000, -50, 50)) {
      Add(x, RealValues(random, 1, -6, 6)[0]);
    }
  }

  void Add(double x, double y) {
    a.push_back(static_cast<double>(static_cast<float>(x)));
    b.push_back(static_cast<double>(static_cast<float>(y)));
  }
  static double Any(Random& random) {
    return std::bit_cast<float>(static_cast<uint32_t>(Uniform(random, 0, UINT32_MAX)));
  }
  Dims dims() const { return {static_cast<int64_t>(a.size())}; }

  Doubles a, b;
};

/// Units in the last place of a float.
double Ulps(double got, double want) {
  const auto nearest = static_cast<double>(static_cast<float>(want));
  if (got == nearest || (std::isnan(got) && std::isnan(nearest))) {
    const bool zeros = got != 0 || std::signbit(got) == std::signbit(want);
    return zeros ? 0.5 : INFINITY;
  }
  if (!std::isfinite(got) || !std::isfinite(nearest)) return INFINITY;
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::abs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

void ExpectAll(const Pairs& pairs, const Doubles& got, double bound, Function want) {
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(Ulps(got[i], want(pairs.a[i], pairs.b[i])), bound)
        << pairs.a[i] << ", " << pairs.b[i] << ": " << got[i];
  }
}

float Rest(double a, double b) { return std::fmod(static_cast<float>(a), static_cast<float>(b)); }

float RestOfDivisor(double a, double b) {
  const float rest = Rest(a, b), divisor = static_cast<float>(b);
  return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}

TEST(TwoFloats, AreNear) {
  const Pairs pairs;
  UnderEachSetting([&](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    const DeviceTensor a = Floats(pairs.dims(), pairs.a), b = Floats(pairs.dims(), pairs.b),
                       out = EmptyFloats(pairs.dims());
    EXPECT_RUN(device, PowTensorTensor, a.handle(), b.handle(), Handle(out));
    ExpectAll(pairs, ValuesOf(out), 0.53, [](double x, double y) { return std::pow(x, y); });
    EXPECT_RUN(device, Atan2, a.handle(), b.handle(), Handle(out));
    ExpectAll(pairs, ValuesOf(out), 0.51, [](double x, double y) { return std::atan2(x, y); });
    EXPECT_RUN(device, FmodTensor, a.handle(), b.handle(), Handle(out));
    ExpectAll(pairs, ValuesOf(out), 0.5, [](double x, double y) -> double { return Rest(x, y); });
    EXPECT_RUN(device, RemainderTensorTensor, a.handle(), b.handle(), Handle(out));
    ExpectAll(pairs, ValuesOf(out), 0.5,
              [](double x, double y) -> double { return RestOfDivisor(x, y); });
  });
}

// In place, and of views whose elements lie apart: what is not known is found from the same
// numbers.
TEST(TwoFloats, InPlace) {
  const Device device;
  const Pairs pairs;
  const ScalarHandle divisor(-3.5);
  Random random(3);
  const DeviceTensor self = Floats(pairs.dims(), pairs.a),
                     apart = Make(ACL_FLOAT, pairs.dims(), pairs.a, random),
                     out(ACL_FLOAT, RandomLayout(random, pairs.dims(), false));
  EXPECT_RUN(device, InplaceRemainderTensorScalar, Handle(self), divisor.get());
  EXPECT_RUN(device, RemainderTensorScalar, apart.handle(), divisor.get(), Handle(out));
  const Doubles got = ValuesOf(self), other = ValuesOf(out);
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(Ulps(got[i], RestOfDivisor(pairs.a[i], -3.5)), 0.5) << pairs.a[i];
    ASSERT_EQ(Ulps(other[i], RestOfDivisor(pairs.a[i], -3.5)), 0.5) << pairs.a[i];
  }
}

TEST(TwoFloats, PowersOfOneExponent) {
  const Pairs pairs;
  UnderEachSetting([&](const std::string& name, const Device& device) {
    const DeviceTensor self = Floats(pairs.dims(), pairs.a), out = EmptyFloats(pairs.dims());
    for (const double exponent : {-2.0, -1.0, -0.5, 0.0, 0.5, 1.5, 2.0, 3.0, 4.0, 2.5, -7.0}) {
      SCOPED_TRACE(testing::Message() << name << " " << exponent);
      const ScalarHandle by(exponent);
      EXPECT_RUN(device, PowTensorScalar, self.handle(), by.get(), Handle(out));
      const Doubles got = ValuesOf(out);
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_LE(Ulps(got[i], std::pow(pairs.a[i], exponent)), exponent == -7 ? 0.53 : 0.51)
            << pairs.a[i] << ": " << got[i];
      }
    }
  });
}

// Applying erf to the result gives the input.
TEST(TwoFloats, InverseErf) {
  const Device device;
  Doubles given = {0, -0.0, 1, -1, 1.5, NAN, 1 - 0x1p-24, -1 + 0x1p-24, 0x1p-149, 1e-20};
  for (int64_t i = -4000; i < 4000; ++i) given.push_back(static_cast<double>(i) / 4000);
  given = Held(ACL_FLOAT, given);
  const Dims dims = {static_cast<int64_t>(given.size())};
  const DeviceTensor self = Floats(dims, given), out = EmptyFloats(dims);
  EXPECT_RUN(device, Erfinv, self.handle(), Handle(out));
  const Doubles got = ValuesOf(out);
  EXPECT_TRUE(got[2] == INFINITY && got[3] == -INFINITY && std::isnan(got[4]) &&
              std::isnan(got[5]) && std::signbit(got[1]));
  for (size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i]) || given[i] == 0) continue;
    const double size = std::abs(got[i]);
    // Half a unit in the last place of the result, by the slope of erf.
    const double slope = M_2_SQRTPI * std::exp(-size * size);
    const double off = std::abs(given[i]) > 0.5 ? std::erfc(size) - (1 - std::abs(given[i]))
                                                : std::erf(size) - std::abs(given[i]);
    int exponent = 0;
    std::frexp(size, &exponent);
    EXPECT_LE(std::abs(off) / slope, 0.51 * std::ldexp(1.0, std::max(exponent - 24, -149)))
        << given[i] << " " << got[i];
  }
}

}  // namespace
}  // namespace openaclnn::test
