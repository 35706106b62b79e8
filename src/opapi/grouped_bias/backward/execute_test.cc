// SPDX-License-Identifier: Apache-2.0
// How GroupedBiasAddGrad runs: lists of ends and of sizes, bad ones, executors of its versions.
#include <gtest/gtest.h>

#include <numeric>

#include "grouped_bias/backward/test_case.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace openaclnn::test::grouped_bias::backward {
namespace {

Case Shape(int64_t groups, int64_t rows, int64_t width, Groups how = kRandomGroups) {
  return {"", kEdge, groups, rows, width, how};
}

// Sizes give the bits of ends, in whatever views.
TEST(GroupedBiasAddGradBits, OfSizesAreThoseOfEnds) {
  const Device device;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Case shape = Shape(3, 3000, 37);
    const Problem strided(shape, {ACL_FLOAT, ACL_INT64, kFirst}, {seed, kNormal, true});
    Problem dense(shape, {ACL_FLOAT, ACL_INT64, kSecondWithSizes}, {seed, kNormal, false});
    dense.grad_y.Write(strided.grad_y.Read());
    ASSERT_EQ(strided.Run(device).message, "");
    ASSERT_EQ(dense.Run(device).message, "");
    EXPECT_EQ(strided.out.Read(), dense.out.Read());
  }
}

struct BadList {
  Version version;
  std::vector<int64_t> list;
  std::string text;
  bool narrow = true;  // its values fit INT32
};

/// For gradY of 40 rows.
std::vector<BadList> BadLists() {
  constexpr int64_t kMost = INT32_MAX;
  const std::string ends = "expected an end from ", sizes = "expected a size from 0 to ";
  return {
      {kFirst, {5, 4, 30, 40}, "1 is 4, " + ends + "5 to 2147483647"},
      {kFirst, {5, 15, 30, 29}, "3 is 29, " + ends + "30 to 2147483647"},
      {kFirst, {-1, 15, 30, 40}, "0 is -1, " + ends + "0 to 2147483647"},
      {kFirst, {INT32_MIN, 15, 30, 40}, "0 is -2147483648, " + ends + "0 to 2147483647"},
      {kFirst, {5, 15, kMost + 1, 40}, "2 is 2147483648, " + ends + "15 to 2147483647", false},
      {kFirst, {5, 15, INT64_MAX, 40}, "2 is 9223372036854775807, " + ends + "15 to ", false},
      {kFirst, {INT64_MIN, 15, 30, 40}, "0 is -9223372036854775808, " + ends + "0 to ", false},
      // In 32 bits these would be good.
      {kFirst, {5, 15, (int64_t{1} << 32) + 30, 40}, "2 is 4294967326, " + ends + "15", false},
      {kFirst, {5, 15, 30, 39}, "3 is 39, expected the last end to be 40, the rows of gradY"},
      {kFirst, {5, 15, 30, 41}, "3 is 41, expected the last end to be 40, the rows of gradY"},
      {kFirst, {5, 15, 30, kMost}, "3 is 2147483647, expected the last end to be 40"},
      {kFirst, {0, 0, 0, 0}, "3 is 0, expected the last end to be 40"},
      {kFirst, {-40}, "0 is -40, " + ends + "0"},
      {kFirst, {41}, "0 is 41, expected the last end to be 40"},
      {kSecondWithEnds, {5, 4, 30, 40}, "1 is 4, " + ends + "5 to 2147483647"},
      {kSecondWithEnds, {5, 10, 15, 10}, "3 is 10, " + ends + "15 to 2147483647"},
      {kSecondWithSizes, {5, -1, 26, 10}, "1 is -1, " + sizes + "2147483642"},
      {kSecondWithSizes, {5, 10, 15, -10}, "3 is -10, " + sizes + "2147483617"},
      {kSecondWithSizes, {5, 10, 15, 9}, "3 is 9, expected sizes whose sum is 40, the rows of"},
      {kSecondWithSizes, {5, 10, 15, 11}, "3 is 11, expected sizes whose sum is 40, the rows of"},
      {kSecondWithSizes, {39}, "0 is 39, expected sizes whose sum is 40"},
      {kSecondWithSizes, {5, 15, 30, 40}, "3 is 40, expected sizes whose sum is 40"},
      // Sums that wrap around.
      {kSecondWithSizes, {kMost, 1, 0, 40}, "1 is 1, " + sizes + "0"},
      {kSecondWithSizes, {INT64_MAX, INT64_MAX, 42}, "0 is 9223372036854775807, ", false},
  };
}

// The position and the value are named, out keeps its bytes, and the stream works on.
TEST(GroupedBiasAddGradLists, ThatBreakARule) {
  const Device device;
  for (const BadList& bad : BadLists()) {
    for (const aclDataType dtype : {ACL_INT32, ACL_INT64}) {
      if (dtype == ACL_INT32 && !bad.narrow) continue;
      for (const bool strided : {false, true}) {
        SCOPED_TRACE(testing::Message() << dtype << " " << bad.text << strided);
        const Case shape = Shape(static_cast<int64_t>(bad.list.size()), 40, 3);
        const Types types = {ACL_FLOAT, dtype, bad.version};
        Problem problem(shape, types, {7, kNormal, strided});
        problem.SetList(bad.list);
        const Outcome outcome = problem.Run(device);
        EXPECT_EQ(outcome.code, 507035);
        const std::string text =
            std::string(" ") + ApiOf(bad.version) + ": groupIdxOptional value " + bad.text;
        EXPECT_NE(outcome.message.find(text), std::string::npos) << outcome.message;
        EXPECT_EQ(problem.out.Change(), "");
        EXPECT_EQ(device.Synchronize().code, 0) << "the error is reported once";
        problem.SetEnds(std::vector<int64_t>(bad.list.size(), 40));
        ASSERT_EQ(problem.Run(device).message, "");
        EXPECT_TRUE(problem.IsRight());
      }
    }
  }
}

TEST(GroupedBiasAddGradLists, WithoutGroupsForRows) {
  const Device device;
  const Problem problem(Shape(0, 7, 3), {});
  const Outcome outcome = problem.Run(device);
  ExpectTaskError(outcome, "aclnnGroupedBiasAddGrad",
                  "groupIdxOptional shape is (0), expected groups that end at 7, the rows of "
                  "gradY");
}

TEST(GroupedBiasAddGradLists, GroupsMayBeEmpty) {
  const Device device;
  for (const Version version : kVersions) {
    for (const std::vector<int64_t>& ends : {std::vector<int64_t>{0, 0, 5, 5, 5, 40},
                                             {40, 40, 40, 40, 40, 40},
                                             {0, 0, 0, 0, 0, 40},
                                             {0, 1, 2, 3, 4, 40}}) {
      for (const aclDataType data : kFloatDtypes) {
        Problem problem(Shape(6, 40, 9), {data, ACL_INT32, version});
        problem.SetEnds(ends);
        ASSERT_EQ(problem.Run(device).message, "");
        EXPECT_TRUE(problem.IsRight());
      }
    }
  }
}

// Zeros are written whatever the list says, since there is no row that it could place.
TEST(GroupedBiasAddGradLists, OfAnEmptyGradAreNotRead) {
  const Device device;
  for (const Version version : kVersions) {
    Problem problem(Shape(3, 0, 5), {ACL_FLOAT, ACL_INT32, version});
    problem.SetList({7, -3, 99});
    ASSERT_EQ(problem.Run(device).message, "");
    EXPECT_EQ(problem.out.Read(), std::vector<std::byte>(3 * 5 * 4));
  }
}

// No element to add or write: the number of groups costs no time.
TEST(GroupedBiasAddGradLists, HugeNumbersOfEmptyRowsCostNothing) {
  const Device device;
  constexpr int64_t kHuge = int64_t{1} << 40;
  for (const Dims& grad_y : {Dims{kHuge, 5, 0}, Dims{kHuge, 0, 0}}) {
    Spec spec;
    spec.grad_y = {.dims = grad_y};
    spec.list.given = TensorSpec::kNull;
    spec.out = {.dims = {kHuge, 0}};
    EXPECT_EQ(Execute(device, Plan(spec), aclnnGroupedBiasAddGrad).message, "");
  }
}

// The list is read by each run, not when the call is planned.
TEST(GroupedBiasAddGradExecutor, ReadsTheListOfEachRun) {
  const Device device;
  Problem problem(Shape(4, 3000, 33), {});
  const Planned planned = problem.Plan();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
  for (const std::vector<int64_t>& ends :
       {std::vector<int64_t>{0, 0, 0, 3000}, {1, 1100, 2999, 3000}, {3000, 3000, 3000, 3000}}) {
    problem.SetEnds(ends);
    problem.out.Scramble();
    ASSERT_EQ(Execute(device, planned, aclnnGroupedBiasAddGrad).message, "");
    EXPECT_TRUE(problem.IsRight());
  }
  problem.SetList({1, 0, 0, 3000});
  problem.out.Scramble();
  EXPECT_EQ(Execute(device, planned, aclnnGroupedBiasAddGrad).code, 507035);
  EXPECT_EQ(problem.out.Change(), "");
}

// The two versions have executors of their own.
TEST(GroupedBiasAddGradMisuse, ExecutorOfTheOtherVersion) {
  const Device device;
  const Problem problem(Shape(5, 60, 7), {});
  const Planned planned = problem.Plan();
  const DeviceBuffer workspace(4096);
  const Outcome outcome = TakeOutcome(aclnnGroupedBiasAddGradV2(
      workspace.address(), planned.workspace_size(), planned.executor(), device.stream()));
  EXPECT_EQ(outcome.code, 561000);
  EXPECT_NE(outcome.message.find("executor operator is aclnnGroupedBiasAddGrad, expected "
                                 "aclnnGroupedBiasAddGradV2"),
            std::string::npos)
      << outcome.message;
}

}  // namespace
}  // namespace openaclnn::test::grouped_bias::backward
