// SPDX-License-Identifier: Apache-2.0
// Results of GroupedBiasAddGrad: against the reference, and the reference against its law.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "grouped_bias/backward/reference.h"
#include "grouped_bias/backward/test_case.h"
#include "tests/support/numbers.h"
#include "tests/support/room_runs.h"
#include "tests/support/tables.h"

namespace openaclnn::test::grouped_bias::backward {
namespace {

namespace room = openaclnn::grouped_bias::backward;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Output(const Problem& problem) {
  return ToDoubles(problem.out.dtype(), problem.out.Read());
}

/// One column; returns the output.
std::vector<double> Sum(aclDataType dtype, const std::vector<double>& grad,
                        std::vector<int64_t> ends = {}) {
  const Device device;
  const auto rows = static_cast<int64_t>(grad.size());
  if (ends.empty()) ends = {rows};
  Problem problem({"", kEdge, static_cast<int64_t>(ends.size()), rows, 1, kEvenGroups}, {dtype});
  problem.SetGrad(grad);
  problem.SetEnds(ends);
  EXPECT_EQ(problem.Run(device).message, "");
  EXPECT_EQ(problem.out.Damage(), "");
  return Output(problem);
}

TEST(Reference, IsTheFormula) {
  const std::vector<double> dy = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<int64_t> ends = {0, 1, 1, 4};
  std::vector<double> db(8, kNaN);
  room::Reference(4, 2, ends.data(), dy.data(), db.data());
  EXPECT_EQ(db, (std::vector<double>{0, 0, 1, 2, 0, 0, 15, 18}));
}

// The forward adds bias row j to every row of group j: <dy, forward(b)> = <gradient(dy), b> for
// every dy and b.
TEST(Reference, IsTheAdjointOfTheBroadcast) {
  EXPECT_TRUE(rc::check([] {
    const int64_t width = *rc::gen::inRange(0, 9);
    const auto sizes = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 9));
    Random random(*rc::gen::arbitrary<uint32_t>());
    // Whole numbers, so that both sides are exact.
    const auto whole = [&](int64_t count) {
      std::vector<double> values(static_cast<size_t>(count));
      for (double& value : values) value = static_cast<double>(Uniform(random, -1000, 1000));
      return values;
    };
    const auto groups = static_cast<int64_t>(sizes.size());
    const std::vector<double> b = whole(groups * width);
    std::vector<int64_t> ends;
    std::vector<double> y;
    for (size_t j = 0; j < sizes.size(); ++j) {
      ends.push_back((j > 0 ? ends[j - 1] : 0) + sizes[j]);
      const auto row = b.begin() + static_cast<int64_t>(j) * width;
      for (int64_t i = 0; i < sizes[j]; ++i) y.insert(y.end(), row, row + width);
    }
    const std::vector<double> dy = whole(static_cast<int64_t>(y.size()));
    std::vector<double> db(b.size(), kNaN);
    room::Reference(groups, width, ends.data(), dy.data(), db.data());
    double left = 0, right = 0;
    for (size_t i = 0; i < y.size(); ++i) left += dy[i] * y[i];
    for (size_t i = 0; i < b.size(); ++i) right += db[i] * b[i];
    RC_ASSERT(left == right);
  }));
}

// (1000, 30) in groups of 400, 200, 400 rows; (40, 10) of ones in groups of 5, 10, 15, 10.
TEST(GroupedBiasAddGrad, WorkedExamples) {
  const Device device;
  for (const Version version : kVersions) {
    for (const aclDataType list : {ACL_INT32, ACL_INT64}) {
      Problem random({"", kSmoke, 3, 1000, 30, kEvenGroups}, {ACL_FLOAT, list, version});
      random.SetEnds({400, 600, 1000});
      ExpectRight(device, random);
      Problem ones({"", kSmoke, 4, 40, 10, kEvenGroups}, {ACL_FLOAT, list, version});
      ones.SetGrad(std::vector<double>(400, 1));
      ones.SetEnds({5, 15, 30, 40});
      ASSERT_EQ(ones.Run(device).message, "");
      std::vector<double> wanted;
      for (const double size : {5, 10, 15, 10}) wanted.insert(wanted.end(), 10, size);
      EXPECT_EQ(Output(ones), wanted);
    }
  }
}

// (10, 100, 30) without a list.
TEST(GroupedBiasAddGrad, WorkedExampleWithoutList) {
  const Device device;
  Problem problem({"", kSmoke, 10, 100, 30, kNoList}, {});
  problem.SetGrad(std::vector<double>(10 * 100 * 30, 1));
  ASSERT_EQ(problem.Run(device).message, "");
  EXPECT_EQ(Output(problem), std::vector<double>(300, 100));
}

TEST(GroupedBiasAddGrad, EveryCombinationOfTypes) {
  const Device device;
  for (const aclDataType data : kFloatDtypes) {
    for (const aclDataType list : {ACL_INT32, ACL_INT64}) {
      for (const Version version : kVersions) {
        for (const Groups how : {kNoList, kRandomGroups}) {
          for (uint64_t seed = 0; seed < 4; ++seed) {
            SCOPED_TRACE(testing::Message() << data << " " << list << " " << version << seed);
            const Problem problem({"", kSmoke, 5, 77, 21, how}, {data, list, version},
                                  {seed, kWide, seed > 0});
            ExpectRight(device, problem);
          }
        }
      }
    }
  }
}

// 100,003 equal terms: a running sum would be far outside the bound.
TEST(GroupedBiasAddGrad, LongSumsStayAccurate) {
  const Device device;
  for (const aclDataType dtype : kFloatDtypes) {
    for (const Groups how : {kNoList, kEvenGroups}) {
      const Problem problem({"", kEdge, 1, 100003, 3, how}, {dtype}, {1, kEqual, false});
      ExpectRight(device, problem);
    }
  }
}

TEST(GroupedBiasAddGrad, NonFiniteValuesFlow) {
  const auto sum = [](const std::vector<double>& grad) { return Sum(ACL_FLOAT, grad)[0]; };
  EXPECT_TRUE(std::isnan(sum({1, kNaN, 2})));
  EXPECT_TRUE(std::isnan(sum({kInfinity, -kInfinity})));
  EXPECT_EQ(sum({1, kInfinity, 2}), kInfinity);
  EXPECT_EQ(sum({-kInfinity, 5}), -kInfinity);
  EXPECT_EQ(sum({3e38, 3e38}), kInfinity);
  // A NaN stays in its group.
  for (const aclDataType dtype : kFloatDtypes) {
    const std::vector<double> got = Sum(dtype, {5, kNaN, 7}, {1, 2, 2, 3});
    EXPECT_EQ(got[0], 5);
    EXPECT_TRUE(std::isnan(got[1]));
    EXPECT_EQ(got[2], 0);
    EXPECT_EQ(got[3], 7);
  }
}

// Sums are FP32 whatever the type; only the result is rounded, once, ties to even.
TEST(GroupedBiasAddGrad, RoundsOnce) {
  EXPECT_EQ(Sum(ACL_FLOAT16, {65504, 65504})[0], kInfinity);
  EXPECT_EQ(Sum(ACL_FLOAT16, {65504, 65504, -65504})[0], 65504);
  // 2048 + 1 + 1: rounding after each addition would stay at 2048.
  EXPECT_EQ(Sum(ACL_FLOAT16, {2048, 1, 1})[0], 2050);
  EXPECT_EQ(Sum(ACL_FLOAT16, {2048, 1})[0], 2048);
  EXPECT_EQ(Sum(ACL_FLOAT16, {2050, 1})[0], 2052);
  EXPECT_EQ(Sum(ACL_BF16, {256, 1})[0], 256);
  EXPECT_EQ(Sum(ACL_BF16, {258, 1})[0], 260);
}

TEST(GroupedBiasAddGrad, OneRowIsACopy) {
  const std::vector<double> values = {-0.0, 0x1p-149, -0x1p-149, 1, 0x1.fffffep127};
  const std::vector<double> got = Sum(ACL_FLOAT, values, {1, 2, 3, 4, 5});
  EXPECT_EQ(std::memcmp(got.data(), values.data(), values.size() * sizeof(double)), 0);
}

INSTANTIATE_TYPED_TEST_SUITE_P(GroupedBiasAddGrad, RoomRuns, Room);

}  // namespace
}  // namespace openaclnn::test::grouped_bias::backward
