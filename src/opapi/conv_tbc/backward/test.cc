// SPDX-License-Identifier: Apache-2.0
// Results of ConvTbcBackward: against the reference, and the reference against the forward's.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <complex>
#include <limits>

#include "conv_tbc/backward/reference.h"
#include "conv_tbc/backward/test_case.h"
#include "conv_tbc/forward/reference.h"
#include "tests/support/room_runs.h"

namespace openaclnn::test::conv_tbc::backward {
namespace {

namespace room = openaclnn::conv_tbc::backward;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

struct Point {
  std::vector<double> x, w, bias;
};

Point RandomPoint(Random& random, const ConvCase& shape) {
  const auto values = [&](const Dims& dims) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    return RandomValues(random, count, kNormal);
  };
  return {values(shape.input()), values(shape.weight()), values({shape.out_channels})};
}

// The forward along the complex step x + ih u, w + ih v, bias + ih z: its imaginary part over h is
// the derivative to all digits, and <dy, it> = <dx, u> + <dw, v> + <db, z> for every dy, u, v, z.
TEST(Reference, IsTheDerivativeOfTheForward) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const ConvCase shape = {"",
                            kEdge,
                            Uniform(random, 1, 6),
                            Uniform(random, 1, 3),
                            Uniform(random, 1, 4),
                            Uniform(random, 1, 4),
                            Uniform(random, 1, 4),
                            Uniform(random, 2, 4)};
    const room::ReferenceSizes sizes = {shape.in_length,    shape.batch, shape.in_channels,
                                        shape.out_channels, shape.taps,  shape.pad};
    const Point at = RandomPoint(random, shape), direction = RandomPoint(random, shape);
    constexpr double kStep = 1e-100;
    const auto shifted = [](const std::vector<double>& from, const std::vector<double>& along) {
      std::vector<std::complex<double>> result;
      for (size_t i = 0; i < from.size(); ++i) result.emplace_back(from[i], kStep * along[i]);
      return result;
    };
    const auto count = static_cast<size_t>(shape.out_length() * shape.batch * shape.out_channels);
    const openaclnn::conv_tbc::forward::ReferenceSizes forward = {
        shape.in_length, shape.batch, shape.in_channels, shape.out_channels, shape.taps, shape.pad};
    std::vector<std::complex<double>> y(count);
    openaclnn::conv_tbc::forward::Reference(forward, shifted(at.x, direction.x).data(),
                                            shifted(at.w, direction.w).data(),
                                            shifted(at.bias, direction.bias).data(), y.data());
    std::vector<double> derivative;
    for (const auto& value : y) derivative.push_back(value.imag() / kStep);
    const std::vector<double> dy = RandomValues(random, static_cast<int64_t>(count), kNormal);
    std::vector<double> dx(at.x.size(), kNaN), dw(at.w.size(), kNaN), db(at.bias.size(), kNaN);
    room::ReferenceInput(sizes, dy.data(), at.w.data(), dx.data());
    room::ReferenceWeight(sizes, dy.data(), at.x.data(), dw.data());
    room::ReferenceBias(sizes, dy.data(), db.data());
    const double left = Dot(dy, derivative);
    const double right = Dot(dx, direction.x) + Dot(dw, direction.w) + Dot(db, direction.bias);
    RC_ASSERT(std::abs(left - right) <= 1e-9);
  }));
}

// (5, 1, 2), one tap, no pad, all ones.
TEST(ConvTbcBackward, WorkedExample) {
  const Device device;
  for (const aclDataType dtype : kFloatDtypes) {
    Problem problem({"", kSmoke, 5, 1, 2, 2, 1, 0}, dtype);
    for (DeviceTensor* tensor : {&problem.dy, &problem.x, &problem.w, &problem.bias}) {
      Problem::Set(tensor, std::vector<double>(static_cast<size_t>(tensor->layout().count()), 1));
    }
    ASSERT_EQ(problem.Run(device).message, "");
    EXPECT_EQ(ValuesOf(problem.dx), std::vector<double>(10, 2));
    EXPECT_EQ(ValuesOf(problem.dw), std::vector<double>(4, 5));
    EXPECT_EQ(ValuesOf(problem.db), std::vector<double>(2, 5));
  }
}

// gradBias sums self as it is stored, whatever the products see.
TEST(ConvTbcBackward, BiasGradientIsNotRounded) {
  const Device device;
  Problem problem({"", kEdge, 2, 1, 1, 1, 1, 0}, ACL_FLOAT, {1, kNormal, false}, 2);
  Problem::Set(&problem.dy, {1 + 0x1p-20, 70000});
  ASSERT_EQ(problem.Run(device).message, "");
  EXPECT_EQ(ValuesOf(problem.db)[0], static_cast<float>(70001 + 0x1p-20));
  EXPECT_TRUE(std::isinf(ValuesOf(problem.dx)[1]));
}

// bias is required, and its values do not matter.
TEST(ConvTbcBackward, BiasIsNotRead) {
  const Device device;
  Problem problem({"", kEdge, 6, 2, 3, 4, 3, 1}, ACL_FLOAT);
  Problem::Set(&problem.bias, std::vector<double>(4, kNaN));
  ExpectRight(device, problem);
}

// Beyond the ends of time there is nothing, not zeros: 0 * Inf would be NaN.
TEST(ConvTbcBackward, NonFiniteValuesOfTapsOutsideDoNotFlow) {
  const Device device;
  for (const double value : {kInfinity, kNaN}) {
    Problem problem({"", kEdge, 20, 3, 1, 1, 3, 1}, ACL_FLOAT);
    Problem::Set(&problem.w, {value, 1, 1});  // reaches the steps after the first
    ASSERT_EQ(problem.Run(device).message, "");
    std::vector<double> got = ValuesOf(problem.dx);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::isfinite(got[i]), i >= 57) << i;
    // The first step of the input meets the second tap's gradient and the third's, not the first's.
    Problem::Set(&problem.w, {1, 1, 1});
    std::vector<double> x(60, 1);
    x[0] = value;
    Problem::Set(&problem.x, x);
    ASSERT_EQ(problem.Run(device).message, "");
    got = ValuesOf(problem.dw);
    EXPECT_FALSE(std::isfinite(got[0]));
    EXPECT_FALSE(std::isfinite(got[1]));
    EXPECT_TRUE(std::isfinite(got[2]));
  }
}

TEST(ConvTbcBackward, EmptyInputOrWeight) {
  const Device device;
  const ConvCase shapes[] = {{"no_taps", kEdge, 3, 2, 4, 5, 0, 1},
                             {"no_channels", kEdge, 3, 2, 0, 5, 2, 1},
                             {"no_steps", kEdge, 0, 2, 4, 5, 2, 3},
                             {"all_in_the_pad", kEdge, 1, 1, 2, 3, 1, 70}};
  for (const ConvCase& shape : shapes) {
    for (const aclDataType dtype : kFloatDtypes) {
      SCOPED_TRACE(shape.name);
      const Problem problem(shape, dtype);
      ExpectRight(device, problem);
    }
  }
}

// dy is packed as narrow as it is, not padded to a tile.
TEST(ConvTbcBackwardWorkspace, OfOneOutputChannelIsThatOfDy) {
  const Device device;
  const Problem problem({"", kEdge, 20000, 16, 20, 1, 3, 1}, ACL_FLOAT);
  const auto dy_bytes = static_cast<uint64_t>(problem.dy.layout().count()) * sizeof(float);
  EXPECT_LT(problem.Plan().workspace_size(), 2 * dy_bytes);
}

TEST(ConvTbcBackward, RoundsOperandsAsAsked) { ExpectOperandsAreRoundedAsAsked<Problem>(); }

INSTANTIATE_TYPED_TEST_SUITE_P(ConvTbcBackward, RoomRuns, Room);

}  // namespace
}  // namespace openaclnn::test::conv_tbc::backward
