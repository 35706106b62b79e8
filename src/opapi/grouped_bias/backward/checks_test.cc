// SPDX-License-Identifier: Apache-2.0
// Calls that GroupedBiasAddGrad refuses in phase 1: every check, their order, every product and
// type.
#include <gtest/gtest.h>

#include "grouped_bias/backward/test_case.h"
#include "tests/support/room_checks.h"
#include "tests/support/walks.h"

namespace openaclnn::test::grouped_bias::backward {
namespace {

using Row = CheckRow<Spec>;

Spec GoodSpec(Version version) {
  Spec spec;
  spec.grad_y = {.dims = {6, 3}};
  spec.list = {.dims = {2}, .dtype = ACL_INT64};
  spec.list_type = version == kSecondWithSizes ? 1 : 0;
  spec.out = {.dims = {2, 3}};
  spec.version = version;
  return spec;
}

Spec GoodSpecWithoutList(Version version) {
  Spec spec = GoodSpec(version);
  spec.grad_y.dims = {2, 4, 3};
  spec.list.given = TensorSpec::kNull;
  return spec;
}

const SpecOperand<Spec> kGradY = {"gradY", &Spec::grad_y, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, true};
const SpecOperand<Spec> kList = {"groupIdxOptional", &Spec::list, {ACL_INT32, ACL_INT64}};
const SpecOperand<Spec> kOut = {"out", &Spec::out, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, true, true};

/// The rows of the documented list, in its order.
std::vector<Row> OperatorRows() {
  const std::string floats = "one of FLOAT, FLOAT16, BFLOAT16 on Ascend910B1";
  const std::string plain = "one of UNDEFINED, ND, NCHW, NHWC, HWCN, NDHWC, NCDHW, NCL";
  return {
      {"gradY dtype is INT8", floats, 161002, [](Spec* s) { s->grad_y.dtype = ACL_INT8; }},
      {"out dtype is DOUBLE", floats, 161002, [](Spec* s) { s->out.dtype = ACL_DOUBLE; }},
      {"out dtype is FLOAT16", "that of gradY, FLOAT", 161002,
       [](Spec* s) { s->out.dtype = ACL_FLOAT16; }},
      {"groupIdxOptional dtype is FLOAT", "one of INT32, INT64 on Ascend910B1", 161002,
       [](Spec* s) { s->list.dtype = ACL_FLOAT; }},
      {"gradY rank is 3 (shape (2, 3, 3))", "2", 161002,
       [](Spec* s) {
         s->grad_y.dims = {2, 3, 3};
       }},
      {"groupIdxOptional rank is 2 (shape (2, 1))", "1", 161002,
       [](Spec* s) {
         s->list.dims = {2, 1};
       }},
      {"groupIdxOptional shape is (2049)", "at most 2048 groups", 161002,
       [](Spec* s) { s->list.dims = {2049}; }},
      {"out rank is 3 (shape (2, 3, 1))", "2", 161002,
       [](Spec* s) {
         s->out.dims = {2, 3, 1};
       }},
      {"out shape is (3, 3)", "(2, 3)", 161002,
       [](Spec* s) {
         s->out.dims = {3, 3};
       }},
      {"gradY format is number 29", plain, 161002,
       [](Spec* s) { s->grad_y.format = ACL_FORMAT_FRACTAL_NZ; }},
      {"groupIdxOptional format is number 3", plain, 161002,
       [](Spec* s) { s->list.format = ACL_FORMAT_NC1HWC0; }},
      {"out format is number 4", plain, 161002,
       [](Spec* s) { s->out.format = ACL_FORMAT_FRACTAL_Z; }},
  };
}

std::vector<Row> ViewsOutside() {
  return {
      {"gradY view is (6, 3) with strides (3, 1) and offset 1",
       "one inside its storage of shape (18)", 161002,
       [](Spec* s) {
         s->grad_y.storage = Dims{18};
         s->grad_y.offset = 1;
       }},
      {"groupIdxOptional view is (2) with strides (-1) and offset 0",
       "one inside its storage of shape (2)", 161002,
       [](Spec* s) { s->list.strides = Dims(s->list.dims.size(), -1); }},
      {"out view is (2, 3) with strides (3, 1) and offset 0", "one inside its storage of shape (5)",
       161002, [](Spec* s) { s->out.storage = Dims{5}; }},
  };
}

std::vector<Row> AllRows(Version version) {
  // A call may be without a list.
  std::vector<Row> rows = NullRows(SpecOperands<Spec>{kGradY, kOut});
  for (Row& row : OperatorRows()) rows.push_back(std::move(row));
  if (version != kFirst) {
    rows.push_back({"groupIdxType value is 2", "0 (end positions) or 1 (sizes)", 161002,
                    [](Spec* s) { s->list_type = 2; }});
  }
  for (Row& row : ViewsOutside()) rows.push_back(std::move(row));
  return rows;
}

TEST(GroupedBiasAddGradChecks, GroupIdxType) {
  const Device device;
  for (const int64_t type : {int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN, int64_t{1} << 32}) {
    for (Spec spec : {GoodSpec(kSecondWithEnds), GoodSpecWithoutList(kSecondWithEnds)}) {
      spec.list_type = type;
      ExpectRefused(Plan(spec), "aclnnGroupedBiasAddGradV2", 161002,
                    "groupIdxType value is " + std::to_string(type), "0 (end positions) or 1");
      // It has no meaning for the first version.
      spec.version = kFirst;
      EXPECT_EQ(Plan(spec).outcome().message, "");
    }
  }
  for (const int64_t type : {0, 1}) {
    Spec spec = GoodSpecWithoutList(kSecondWithEnds);
    spec.list_type = type;
    EXPECT_EQ(Plan(spec).outcome().message, "");
  }
}

TEST(GroupedBiasAddGradChecks, RankDependsOnTheList) {
  const Device device;
  for (const Version version : kVersions) {
    for (size_t rank = 0; rank <= 9; ++rank) {
      Spec spec = GoodSpecWithoutList(version);
      spec.grad_y.dims = Dims(rank, 2);
      spec.out.dims = {2, 2};
      const Planned planned = Plan(spec);
      EXPECT_EQ(planned.outcome().code, rank == 3 ? 0 : 161002) << rank;
      if (rank != 3) {
        ExpectRefused(planned, ApiOf(version), 161002, "gradY rank is " + std::to_string(rank),
                      "3");
      }
      spec.list = {.dims = {2}, .dtype = ACL_INT32};
      EXPECT_EQ(Plan(spec).outcome().code, rank == 2 ? 0 : 161002) << rank;
      spec = GoodSpec(version);
      spec.list.dims = Dims(rank, 2);
      EXPECT_EQ(Plan(spec).outcome().code, rank == 1 ? 0 : 161002) << rank;
      spec = GoodSpec(version);
      spec.out.dims = Dims(rank, 2);
      spec.grad_y.dims = {6, 2};
      EXPECT_EQ(Plan(spec).outcome().code, rank == 2 ? 0 : 161002) << rank;
    }
  }
}

TEST(GroupedBiasAddGradChecks, Shapes) {
  const Device device;
  const auto code = [](const Dims& grad_y, std::optional<int64_t> groups, const Dims& out) {
    Spec spec = groups ? GoodSpec(kFirst) : GoodSpecWithoutList(kFirst);
    spec.grad_y.dims = grad_y;
    if (groups) spec.list.dims = {*groups};
    spec.out.dims = out;
    return Plan(spec).outcome().code;
  };
  EXPECT_EQ(code({6, 3}, 2048, {2048, 3}), 0);
  EXPECT_EQ(code({6, 3}, 2049, {2049, 3}), 161002);
  // Without a list there may be any number.
  EXPECT_EQ(code({2049, 4, 3}, std::nullopt, {2049, 3}), 0);
  EXPECT_EQ(code({100000, 1, 1}, std::nullopt, {100000, 1}), 0);
  EXPECT_EQ(code({6, 3}, 0, {0, 3}), 0);
  EXPECT_EQ(code({0, 3}, 2, {2, 3}), 0);
  EXPECT_EQ(code({6, 0}, 2, {2, 0}), 0);
  EXPECT_EQ(code({2, 0, 3}, std::nullopt, {2, 3}), 0);
  EXPECT_EQ(code({0, 4, 3}, std::nullopt, {0, 3}), 0);
  EXPECT_EQ(code({6, 3}, 2, {3, 2}), 161002);
  EXPECT_EQ(code({6, 3}, 2, {2, 6}), 161002);
  EXPECT_EQ(code({6, 3}, 2, {6, 3}), 161002);
  EXPECT_EQ(code({2, 4, 3}, std::nullopt, {4, 3}), 161002);
  EXPECT_EQ(code({2, 4, 3}, std::nullopt, {2, 4}), 161002);
  EXPECT_EQ(code({6, -3}, 2, {2, -3}), 161002);
  EXPECT_EQ(code({6, 3}, -2, {-2, 3}), 161002);
}

TEST(GroupedBiasAddGradChecks, OutputThatOverlapsItself) {
  const Device device;
  for (const Dims& strides : {Dims{3, 0}, Dims{0, 1}, Dims{2, 1}, Dims{1, 1}}) {
    Spec spec = GoodSpec(kFirst);
    spec.out.strides = strides;
    ExpectRefused(Plan(spec), ApiOf(kFirst), 161002, "out strides are (",
                  "elements that do not overlap");
  }
}

TEST(GroupedBiasAddGradChecks, ViewsWithoutElementsReachNothing) {
  const Device device;
  Spec spec = GoodSpecWithoutList(kFirst);
  spec.grad_y = {.dims = {2, 3, 0},
                 .strides = Dims{INT64_MAX, INT64_MAX, -7},
                 .offset = 99,
                 .storage = Dims{1}};
  spec.out = {.dims = {2, 0}, .strides = Dims{0, 0}, .offset = -4, .storage = Dims{0}};
  EXPECT_EQ(Plan(spec).outcome().message, "");
  constexpr int64_t kHuge = int64_t{1} << 40;
  spec.grad_y = {.dims = {kHuge, kHuge, 0}, .strides = Dims{0, 0, 1}, .storage = Dims{1}};
  spec.out = {.dims = {kHuge, 0}, .strides = Dims{0, 0}};
  EXPECT_EQ(Plan(spec).outcome().message, "");
}

INSTANTIATE_TYPED_TEST_SUITE_P(GroupedBiasAddGrad, RoomChecks, Room);

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  const std::vector<Family> families = {Family::kA2, Family::kA3, Family::k950};
  std::vector<test::Refusals<Spec>> refusals;
  for (const Version version : kVersions) {
    refusals.push_back(
        {ApiOf(version), GoodSpec(version), {kGradY, kList, kOut}, AllRows(version), families});
    refusals.push_back({ApiOf(version),
                        GoodSpecWithoutList(version),
                        {kGradY, kOut},
                        NullRows(SpecOperands<Spec>{kGradY, kOut}),
                        families});
  }
  return refusals;
}

}  // namespace openaclnn::test::grouped_bias::backward
