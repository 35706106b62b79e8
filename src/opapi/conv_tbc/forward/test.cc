// SPDX-License-Identifier: Apache-2.0
// Results of ConvTbc: against the reference, and the reference against its formula.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "conv_tbc/forward/reference.h"
#include "conv_tbc/forward/test_case.h"
#include "tests/support/room_runs.h"

namespace openaclnn::test::conv_tbc::forward {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Output(const Problem& problem) { return ValuesOf(problem.y); }

// Two steps, one sequence, one channel: [2, 3] with taps [5, 7], pad 1, bias 100.
TEST(Reference, IsTheFormula) {
  const openaclnn::conv_tbc::forward::ReferenceSizes sizes = {2, 1, 1, 1, 2, 1};
  const double x[] = {2, 3}, w[] = {5, 7}, bias[] = {100};
  std::vector<double> y(3, kNaN);
  openaclnn::conv_tbc::forward::Reference(sizes, x, w, bias, y.data());
  EXPECT_EQ(y, (std::vector<double>{100 + 2 * 7, 100 + 2 * 5 + 3 * 7, 100 + 3 * 5}));
}

// All ones: C_in times the taps that meet the input, and the bias.
TEST(ConvTbc, WorkedExample) {
  const Device device;
  Problem problem({"", kSmoke, 5, 1, 2, 2, 3, 1}, ACL_FLOAT);
  for (DeviceTensor* tensor : {&problem.x, &problem.w, &problem.bias}) {
    Problem::Set(tensor, std::vector<double>(static_cast<size_t>(tensor->layout().count()), 1));
  }
  ASSERT_EQ(problem.Run(device).message, "");
  EXPECT_EQ(Output(problem), (std::vector<double>{5, 5, 7, 7, 7, 7, 7, 7, 5, 5}));
}

// One product, of a value and 1.
double Computed1(aclDataType dtype, int8_t math, double value) {
  const Device device;
  Problem problem({"", kEdge, 1, 1, 1, 1, 1, 0}, dtype, {1, kNormal, false}, math);
  Problem::Set(&problem.x, {value});
  Problem::Set(&problem.w, {1});
  Problem::Set(&problem.bias, {0});
  EXPECT_EQ(problem.Run(device).message, "");
  return Output(problem)[0];
}

TEST(ConvTbc, RoundsToTheNearestTiesToEven) {
  // HF32 has 11 bits after the point.
  EXPECT_EQ(Computed1(ACL_FLOAT, 3, 1 + 0x1p-11), 1 + 0x1p-11);
  EXPECT_EQ(Computed1(ACL_FLOAT, 3, 1 + 0x1p-12), 1);
  EXPECT_EQ(Computed1(ACL_FLOAT, 3, 1 + 0x1p-12 + 0x1p-23), 1 + 0x1p-11);
  EXPECT_EQ(Computed1(ACL_FLOAT, 3, 1 + 0x3p-12), 1 + 0x1p-10);
  EXPECT_EQ(Computed1(ACL_FLOAT, 1, -1 - 0x3p-12), -1 - 0x1p-10);
  EXPECT_EQ(Computed1(ACL_FLOAT, 3, 0x1.fffffep127), kInfinity);
  EXPECT_EQ(Computed1(ACL_FLOAT, 3, -kInfinity), -kInfinity);
  EXPECT_TRUE(std::isnan(Computed1(ACL_FLOAT, 3, kNaN)));
  EXPECT_EQ(Computed1(ACL_FLOAT, 0, 1 + 0x1p-23), 1 + 0x1p-23);
  // FLOAT16 has 10, and ends at 65504.
  EXPECT_EQ(Computed1(ACL_FLOAT, 2, 1 + 0x1p-11), 1);
  EXPECT_EQ(Computed1(ACL_FLOAT, 2, 65519), 65504);
  EXPECT_EQ(Computed1(ACL_FLOAT, 2, 65520), kInfinity);
  EXPECT_EQ(Computed1(ACL_FLOAT, 2, 0x1p-25), 0);
  EXPECT_TRUE(std::isnan(Computed1(ACL_FLOAT, 2, kNaN)));
  EXPECT_EQ(Computed1(ACL_BF16, 2, 0x1p17), kInfinity);
  EXPECT_EQ(Computed1(ACL_BF16, 3, 0x1p17), 0x1p17);
}

// Beyond the ends of time there is nothing, not zeros: 0 * Inf would be NaN.
TEST(ConvTbc, NonFiniteWeightsOfTapsOutsideDoNotFlow) {
  const Device device;
  for (const double value : {kInfinity, kNaN}) {
    Problem problem({"", kEdge, 20, 3, 1, 1, 3, 1}, ACL_FLOAT);
    Problem::Set(&problem.w, {value, 1, 1});  // the tap before
    ASSERT_EQ(problem.Run(device).message, "");
    const std::vector<double> got = Output(problem);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::isfinite(got[i]), i < 3) << i;
  }
}

TEST(ConvTbc, WithoutTermsIsTheBias) {
  const Device device;
  const ConvCase shapes[] = {
      {"no_taps", kEdge, 3, 2, 4, 5, 0, 1},        {"no_channels", kEdge, 3, 2, 0, 5, 2, 1},
      {"no_steps", kEdge, 0, 2, 4, 5, 2, 3},       {"no_batch", kEdge, 3, 0, 4, 5, 2, 1},
      {"no_outputs", kEdge, 3, 2, 4, 0, 2, 1},     {"no_length", kEdge, 3, 2, 4, 5, 4, 0},
      {"all_in_the_pad", kEdge, 1, 1, 2, 3, 1, 70}};
  for (const ConvCase& shape : shapes) {
    for (const aclDataType dtype : kFloatDtypes) {
      SCOPED_TRACE(shape.name);
      const Problem problem(shape, dtype);
      ExpectRight(device, problem);
    }
  }
}

// As many taps and channels as a number holds; the tap in the middle meets the only step.
TEST(ConvTbc, AsManyTermsAsANumberHolds) {
  const Device device{{"OPENACLNN_SOC", "Ascend950PR_9579"}};
  const DeviceBuffer one(sizeof(float)), out(sizeof(float));
  one.Write(ToBytes(ACL_FLOAT, {1}));
  const auto repeated = [&](const Dims& dims) {
    return TensorSpec{
        .dims = dims, .strides = Dims(dims.size(), 0), .storage = Dims{1}, .data = one.address()};
  };
  for (const int64_t channels : {24601, 42799, 64897, 92737}) {
    const int64_t taps = INT64_MAX / channels;
    ASSERT_LT(INT64_MAX - taps * channels, 64);
    ASSERT_EQ(taps % 2, 1);
    Spec spec;
    spec.self = repeated({1, 1, channels});
    spec.weight = repeated({taps, channels, 1});
    spec.bias = repeated({1});
    spec.pad = taps / 2;
    spec.out = {.dims = {1, 1, 1}, .data = out.address()};
    const Planned planned = Plan(spec);
    ASSERT_EQ(planned.outcome().message, "");
    EXPECT_LT(planned.workspace_size(), uint64_t{1} << 26);
    ASSERT_EQ(Execute(device, planned, aclnnConvTbc).message, "");
    EXPECT_EQ(ToDoubles(ACL_FLOAT, out.Read())[0], static_cast<double>(channels + 1));
  }
}

TEST(ConvTbc, RoundsOperandsAsAsked) { ExpectOperandsAreRoundedAsAsked<Problem>(); }

INSTANTIATE_TYPED_TEST_SUITE_P(ConvTbc, RoomRuns, Room);

}  // namespace
}  // namespace openaclnn::test::conv_tbc::forward
