// SPDX-License-Identifier: Apache-2.0
// Calls that Embedding refuses in phase 1: every check, their order, every product and type.
#include <gtest/gtest.h>

#include "embedding/forward/test_case.h"
#include "tests/support/room_checks.h"
#include "tests/support/tables.h"

namespace openaclnn::test::embedding::forward {
namespace {

using Row = CheckRow<Spec>;

Spec GoodSpec() {
  Spec spec;
  spec.weight = {.dims = {5, 3}};
  spec.indices = {.dims = {2, 4}, .dtype = ACL_INT64};
  spec.out = {.dims = {2, 4, 3}};
  return spec;
}

const std::vector<Family> kFamiliesOfIt = {Family::k910, Family::kA2, Family::kA3, Family::k950};

SpecOperands<Spec> Operands() {
  std::vector<aclDataType> movable;
  for (const DtypeEntry& dtype : kDtypes) {
    const size_t bytes = aclDataTypeSize(dtype.type);
    if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) movable.push_back(dtype.type);
  }
  return {{.name = "weight",
           .member = &Spec::weight,
           .dtypes = movable,
           .tied = true,
           .no_bf16_on_910 = true},
          {"indices", &Spec::indices, {kIndexDtypes.begin(), kIndexDtypes.end()}},
          {.name = "out",
           .member = &Spec::out,
           .dtypes = movable,
           .tied = true,
           .is_output = true,
           .no_bf16_on_910 = true}};
}

std::vector<Row> OperatorRows() {
  const Dims rank9 = {1, 1, 1, 1, 1, 1, 1, 2, 3};
  return {
      {"weight dtype is COMPLEX128", "one of FLOAT, FLOAT16", 161002,
       [](Spec* s) { s->weight.dtype = ACL_COMPLEX128; }},
      {"indices dtype is UINT32", "one of FLOAT, FLOAT16, INT8", 161002,
       [](Spec* s) { s->indices.dtype = ACL_UINT32; }},
      {"out dtype is STRING", "one of FLOAT, FLOAT16", 161002,
       [](Spec* s) { s->out.dtype = ACL_STRING; }},
      {"out dtype is INT32", "weight's, FLOAT", 161002, [](Spec* s) { s->out.dtype = ACL_INT32; }},
      {"weight rank is 9", "", 161002, [=](Spec* s) { s->weight.dims = rank9; }},
      {"indices rank is 9", "0 to 8", 161002, [=](Spec* s) { s->indices.dims = rank9; }},
      {"out rank is 9", "0 to 8", 161002, [=](Spec* s) { s->out.dims = rank9; }},
      {"weight rank is 1", "2", 161002, [](Spec* s) { s->weight.dims = {15}; }},
      {"out shape is (2, 4, 2)",
       "the shape of indices, (2, 4), followed by the row length of weight, 3", 161002,
       [](Spec* s) {
         s->out.dims = {2, 4, 2};
       }},
      {"weight format is number 29", "one of UNDEFINED, ND", 161002,
       [](Spec* s) { s->weight.format = ACL_FORMAT_FRACTAL_NZ; }},
      {"indices format is number 3", "one of UNDEFINED, ND", 161002,
       [](Spec* s) { s->indices.format = ACL_FORMAT_NC1HWC0; }},
      {"out format is number 32", "one of UNDEFINED, ND", 161002,
       [](Spec* s) { s->out.format = ACL_FORMAT_NDC1HWC0; }},
      {"weight view is (5, 3)", "one inside its storage of shape (14)", 161002,
       [](Spec* s) { s->weight.storage = Dims{14}; }},
      {"indices view is (2, 4)", "one inside its storage of shape (2, 3)", 161002,
       [](Spec* s) {
         s->indices.storage = Dims{2, 3};
       }},
      {"out view is (2, 4, 3)", "one inside its storage of shape (2, 4, 3)", 161002,
       [](Spec* s) { s->out.offset = 1; }},
  };
}

std::vector<Row> AllRows() {
  std::vector<Row> rows = NullRows(Operands());
  for (Row& row : OperatorRows()) rows.push_back(std::move(row));
  return rows;
}

TEST(EmbeddingChecks, Shapes) {
  const Device device;
  const auto code = [](const Dims& weight, const Dims& indices, const Dims& out) {
    Spec spec = GoodSpec();
    spec.weight.dims = weight;
    spec.indices.dims = indices;
    spec.out.dims = out;
    return Plan(spec).outcome().code;
  };
  EXPECT_EQ(code({5, 3}, {}, {3}), 0);
  EXPECT_EQ(code({5, 3}, {1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 3}), 0);
  EXPECT_EQ(code({5, 3}, {1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 3}), 161002);
  EXPECT_EQ(code({0, 3}, {0}, {0, 3}), 0);
  EXPECT_EQ(code({5, 0}, {2}, {2, 0}), 0);
  EXPECT_EQ(code({5, 3}, {2}, {6}), 161002);
  EXPECT_EQ(code({5, 3}, {2}, {2, 5}), 161002);
  EXPECT_EQ(code({5, 3}, {2}, {3, 2}), 161002);
  EXPECT_EQ(code({5}, {2}, {2, 5}), 161002);
  EXPECT_EQ(code({}, {2}, {2}), 161002);
  EXPECT_EQ(code({5, 3, 1}, {2}, {2, 3}), 161002);
  EXPECT_EQ(code({-5, 3}, {2}, {2, 3}), 161002);
  EXPECT_EQ(code({5, -3}, {2}, {2, -3}), 161002);
  EXPECT_EQ(code({5, 3}, {-2}, {-2, 3}), 161002);
  constexpr int64_t kHuge = int64_t{1} << 40;
  EXPECT_EQ(code({kHuge, kHuge}, {2}, {2, kHuge}), 161002);
  EXPECT_EQ(code({5, 3}, {kHuge, kHuge}, {kHuge, kHuge, 3}), 161002);
}

TEST(EmbeddingChecks, OutputThatOverlapsItself) {
  const Device device;
  Spec spec = GoodSpec();
  spec.weight.strides = Dims{0, 0};
  spec.indices.strides = Dims{0, 1};
  EXPECT_EQ(Plan(spec).outcome().message, "");
  for (const Dims& strides : {Dims{12, 3, 0}, Dims{0, 3, 1}, Dims{3, 3, 1}, Dims{12, 2, 1}}) {
    spec = GoodSpec();
    spec.out.strides = strides;
    ExpectRefused(Plan(spec), kApi, 161002, "out strides are (", "elements that do not overlap");
  }
}

INSTANTIATE_TYPED_TEST_SUITE_P(Embedding, RoomChecks, Room);

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  return {{kApi, GoodSpec(), Operands(), AllRows(), kFamiliesOfIt}};
}

}  // namespace openaclnn::test::embedding::forward
