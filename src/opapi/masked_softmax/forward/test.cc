// SPDX-License-Identifier: Apache-2.0
// Results of ScaledMaskedSoftmax: against the reference, and the reference against its laws.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <complex>
#include <limits>

#include "masked_softmax/forward/reference.h"
#include "masked_softmax/forward/test_case.h"
#include "tests/support/numbers.h"
#include "tests/support/room_runs.h"
#include "tests/support/tables.h"

namespace openaclnn::test::masked_softmax::forward {
namespace {

namespace room = openaclnn::masked_softmax::forward;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Output(const Problem& problem) { return ValuesOf(problem.y); }

// e^0 : e^(ln 2) : e^(ln 5) = 1 : 2 : 5; what is masked at -10000 has no weight.
TEST(Reference, IsTheFormula) {
  const std::vector<double> x = {0, std::log(2) / 0.5, 77, std::log(5) / 0.5};
  const std::vector<uint8_t> mask = {0, 0, 9, 0};
  std::vector<double> y(4);
  room::Reference(4, x.data(), mask.data(), 0.5, y.data());
  EXPECT_DOUBLE_EQ(y[0], 0.125);
  EXPECT_DOUBLE_EQ(y[1], 0.25);
  EXPECT_EQ(y[2], 0);
  EXPECT_DOUBLE_EQ(y[3], 0.625);
}

// Rows sum to 1, do not change when a constant is added, and the complex step agrees with a
// difference quotient.
TEST(Reference, ObeysTheLawsOfASoftmax) {
  using Complex = std::complex<double>;
  EXPECT_TRUE(rc::check([] {
    const auto n = *rc::gen::inRange<size_t>(1, 30);
    Random random(*rc::gen::arbitrary<uint32_t>());
    const auto count = static_cast<int64_t>(n);
    std::vector<double> x = RandomValues(random, count, kNormal), y(n), shifted(n), up(n), down(n);
    const std::vector<uint8_t> mask(n);
    room::Reference(count, x.data(), mask.data(), 0.7, y.data());
    double sum = 0;
    for (const double value : y) sum += value;
    RC_ASSERT(std::abs(sum - 1) < 1e-14);
    for (double& value : x) value += 3;
    room::Reference(count, x.data(), mask.data(), 0.7, shifted.data());
    for (size_t j = 0; j < n; ++j) RC_ASSERT(std::abs(shifted[j] - y[j]) < 1e-14);
    std::vector<Complex> stepped(x.begin(), x.end()), result(n);
    stepped[0] += Complex(0, 1e-100);
    room::Reference(count, stepped.data(), mask.data(), 0.7, result.data());
    x[0] += 1e-5;
    room::Reference(count, x.data(), mask.data(), 0.7, up.data());
    x[0] -= 2e-5;
    room::Reference(count, x.data(), mask.data(), 0.7, down.data());
    for (size_t j = 0; j < n; ++j) {
      RC_ASSERT(std::abs(result[j].imag() / 1e-100 - (up[j] - down[j]) / 2e-5) < 1e-9);
    }
  }));
}

/// One row, `masked` of it; returns the output.
std::vector<double> Row(aclDataType dtype, const std::vector<double>& x,
                        const std::vector<int>& masked = {}, double scale = 1) {
  const Device device;
  const auto n = static_cast<int64_t>(x.size());
  Problem problem({"", kEdge, {1, 1, 1, n}, kMaskOfAll, 0, scale}, dtype);
  problem.SetX(x);
  std::vector<std::byte> mask(x.size());
  for (const int place : masked) mask[static_cast<size_t>(place)] = std::byte{0x80};
  problem.SetMask(mask);
  EXPECT_EQ(problem.Run(device).message, "");
  return Output(problem);
}

TEST(ScaledMaskedSoftmax, EveryByteOfTheMask) {
  const Device device;
  std::vector<std::byte> bytes(256);
  for (size_t i = 0; i < 256; ++i) bytes[i] = static_cast<std::byte>(i);
  for (const aclDataType dtype : kFloatDtypes) {
    Problem problem({"", kEdge, {1, 1, 1, 256}, kMaskOfEach, 0, 1}, dtype);
    problem.SetX(std::vector<double>(256, 1));
    problem.SetMask(bytes);
    ASSERT_EQ(problem.Run(device).message, "");
    std::vector<double> wanted(256);
    wanted[0] = 1;
    EXPECT_EQ(Output(problem), wanted);
  }
}

// A masked argument is -10000, not minus infinity.
TEST(ScaledMaskedSoftmax, MaskedArgumentsAreMinus10000) {
  for (const aclDataType dtype : kFloatDtypes) {
    EXPECT_EQ(Row(dtype, {5, -3, kNaN, kInfinity}, {0, 1, 2, 3}), std::vector<double>(4, 0.25));
    EXPECT_EQ(Row(dtype, {-20480, 7}, {1}), (std::vector<double>{0, 1}));
    EXPECT_EQ(Row(dtype, {-20480, 7}, {1}, 0.48828125), (std::vector<double>{0.5, 0.5}));
    EXPECT_EQ(Row(dtype, {-kInfinity, 7}, {1}), (std::vector<double>{0, 1}));
  }
}

TEST(ScaledMaskedSoftmax, NonFiniteValuesFlow) {
  const auto all_nan = [](const std::vector<double>& row) {
    for (const double value : row) {
      if (!std::isnan(value)) return false;
    }
    return true;
  };
  for (const aclDataType dtype : kFloatDtypes) {
    for (const size_t place : {0, 3, 17, 39}) {
      std::vector<double> x(40, 1);
      // Inf - Inf is NaN, and it is in the sum of the row.
      for (const double bad : {kNaN, kInfinity}) {
        x[place] = bad;
        EXPECT_TRUE(all_nan(Row(dtype, x))) << place;
        EXPECT_EQ(Row(dtype, x, {static_cast<int>(place)})[place], 0) << place;
      }
      x[place] = -kInfinity;
      const std::vector<double> row = Row(dtype, x);
      EXPECT_EQ(row[place], 0);
      EXPECT_EQ(row[1], ToDoubles(dtype, ToBytes(dtype, {1.0 / 39}))[0]);
      EXPECT_TRUE(all_nan(Row(dtype, x, {}, -1)));
    }
    EXPECT_TRUE(all_nan(Row(dtype, std::vector<double>(20, -kInfinity))));
    EXPECT_TRUE(all_nan(Row(dtype, {1, 2, 3}, {}, kNaN)));
    EXPECT_TRUE(all_nan(Row(dtype, {1, 2, 3}, {}, 1e300)));
    EXPECT_EQ(Row(dtype, {kNaN, 2, 2}, {0}, 1), (std::vector<double>{0, 0.5, 0.5}));
  }
}

TEST(ScaledMaskedSoftmax, OneElementIsOne) {
  for (const aclDataType dtype : kFloatDtypes) {
    for (const double value : {0.0, -60000.0, 60000.0, 1e-7}) {
      EXPECT_EQ(Row(dtype, {value}), std::vector<double>{1});
      EXPECT_EQ(Row(dtype, {value}, {0}), std::vector<double>{1});
    }
  }
}

// Two elements, 0 and -t: y1 / y0 = e^-t, down to where it is 0. In units of 2^-24 the exponential
// and the two divisions are off by 2.6 together; without the last term of its series by 4.7.
TEST(ScaledMaskedSoftmax, ExponentialIsAccurate) {
  const Device device;
  constexpr int64_t kRows = 400000;
  Problem problem({"", kEdge, {1, 1, kRows, 2}, kMaskOfAll, 0, 1}, ACL_FLOAT);
  std::vector<double> x(2 * kRows);
  for (size_t row = 0; row < kRows; ++row)
    x[2 * row + 1] = -200.0 * static_cast<double>(row) / kRows;
  problem.SetX(x);
  problem.SetMask(std::vector<std::byte>(2 * kRows));
  ASSERT_EQ(problem.Run(device).message, "");
  const std::vector<double> stored = ToDoubles(ACL_FLOAT, problem.x.Read());
  const std::vector<double> y = Output(problem);
  double worst = 0;
  for (size_t row = 0; row < kRows; ++row) {
    const double wanted = std::exp(stored[2 * row + 1]);
    const double error = std::abs(y[2 * row + 1] / y[2 * row] - wanted);
    worst = std::max(worst, error / (wanted * 0x1p-24 + 0x1p-149));
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LT(worst, 3);
}

// Arguments far apart: a running largest, not a fixed shift, keeps the exponentials in range.
TEST(ScaledMaskedSoftmax, LargeArguments) {
  EXPECT_EQ(Row(ACL_FLOAT, {3e38, -3e38, 0}), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(Row(ACL_FLOAT, {-3e38, -3e38}), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(Row(ACL_FLOAT16, {65504, 65504, -65504}), (std::vector<double>{0.5, 0.5, 0}));
  // The largest may be anywhere.
  for (size_t place = 0; place < 50; ++place) {
    std::vector<double> x(50, -200), wanted(50);
    x[place] = 500;
    wanted[place] = 1;
    EXPECT_EQ(Row(ACL_FLOAT, x), wanted);
  }
}

TEST(ScaledMaskedSoftmax, EveryMaskInEveryView) { ExpectEveryMaskInEveryView<Room>(); }

TEST(ScaledMaskedSoftmax, RowsOf8192On950) { ExpectRowsOf8192On950<Room>(); }

TEST(ScaledMaskedSoftmax, NeedsLittleWorkspaceAndStack) { ExpectLittleWorkspaceAndStack<Room>(); }

INSTANTIATE_TYPED_TEST_SUITE_P(ScaledMaskedSoftmax, RoomRuns, Room);

}  // namespace
}  // namespace openaclnn::test::masked_softmax::forward
