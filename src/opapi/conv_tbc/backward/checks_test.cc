// SPDX-License-Identifier: Apache-2.0
// Calls that ConvTbcBackward refuses in phase 1: every check, their order, every product, type and
// cubeMathType.
#include <gtest/gtest.h>

#include "conv_tbc/backward/test_case.h"
#include "tests/support/conv_checks.h"
#include "tests/support/room_checks.h"

namespace openaclnn::test::conv_tbc::backward {
namespace {

Spec GoodSpec() {
  Spec spec;
  spec.self = {.dims = {7, 2, 4}};
  spec.input = {.dims = {7, 2, 3}};
  spec.weight = {.dims = {3, 3, 4}};
  spec.bias = {.dims = {4}};
  spec.pad = 1;
  spec.math = 1;  // which every product has for every type
  spec.grad_input = spec.input;
  spec.grad_weight = spec.weight;
  spec.grad_bias = spec.bias;
  return spec;
}

const SpecOperands<Spec>& Operands() {
  static const SpecOperands<Spec> operands = {
      ConvOperand("self", &Spec::self, false, false),
      ConvOperand("input", &Spec::input, false, false),
      ConvOperand("weight", &Spec::weight, false, false),
      ConvOperand("bias", &Spec::bias, false, true),
      ConvOperand("gradInput", &Spec::grad_input, true, false),
      ConvOperand("gradWeight", &Spec::grad_weight, true, false),
      ConvOperand("gradBias", &Spec::grad_bias, true, true),
  };
  return operands;
}

std::vector<CheckRow<Spec>> SameDtypeRows() {
  return {{"input dtype is FLOAT16", "that of self, FLOAT", 161002,
           [](Spec* s) { s->input.dtype = ACL_FLOAT16; }},
          {"weight dtype is FLOAT16", "that of self, FLOAT", 161002,
           [](Spec* s) { s->weight.dtype = ACL_FLOAT16; }},
          {"bias dtype is BFLOAT16", "that of self, FLOAT", 161002,
           [](Spec* s) { s->bias.dtype = ACL_BF16; }},
          {"gradInput dtype is FLOAT16", "that of input, FLOAT", 161002,
           [](Spec* s) { s->grad_input.dtype = ACL_FLOAT16; }},
          {"gradWeight dtype is FLOAT16", "that of weight, FLOAT", 161002,
           [](Spec* s) { s->grad_weight.dtype = ACL_FLOAT16; }},
          {"gradBias dtype is FLOAT16", "that of bias, FLOAT", 161002,
           [](Spec* s) { s->grad_bias.dtype = ACL_FLOAT16; }}};
}

std::vector<CheckRow<Spec>> ShapeRows() {
  return {{"self shape is (8, 2, 4)", "(7, 2, 4)", 161002, [](Spec* s) { s->self.dims[0] = 8; }},
          {"gradInput shape is (7, 2, 2)", "(7, 2, 3)", 161002,
           [](Spec* s) { s->grad_input.dims[2] = 2; }},
          {"gradWeight shape is (3, 3, 5)", "(3, 3, 4)", 161002,
           [](Spec* s) { s->grad_weight.dims[2] = 5; }},
          {"gradBias shape is (3)", "(4)", 161002, [](Spec* s) { s->grad_bias.dims = {3}; }}};
}

std::vector<CheckRow<Spec>> AllRows() {
  std::vector<CheckRow<Spec>> rows;
  const auto add = [&](const std::vector<CheckRow<Spec>>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add(NullRows(Operands()));
  add(ConvDtypeRows(Operands()));
  add(SameDtypeRows());
  add(ConvFormatRows(Operands()));
  add({{"self shape is (7, 0, 4)", "elements", 161002, [](Spec* s) { s->self.dims[1] = 0; }}});
  add(ConvRankRows(Operands(), GoodSpec()));
  add(ConvGeometryRows(&Spec::input, "input"));
  add(ShapeRows());
  add(ConvMathRows<Spec>());
  add({{"self view is (7, 2, 4) with strides (8, 4, 1) and offset 1",
        "one inside its storage of shape (7, 2, 4)", 161002, [](Spec* s) { s->self.offset = 1; }},
       {"gradWeight strides are (12, 4, 0)", "elements that do not overlap", 161002, [](Spec* s) {
          s->grad_weight.strides = Dims{12, 4, 0};
        }}});
  return rows;
}

/// FLOAT in the sizes of the case.
Spec Sized(const ConvCase& shape) {
  Spec spec = GoodSpec();
  spec.self.dims = shape.output();
  spec.input.dims = spec.grad_input.dims = shape.input();
  spec.weight.dims = spec.grad_weight.dims = shape.weight();
  spec.bias.dims = spec.grad_bias.dims = {shape.out_channels};
  spec.pad = shape.pad;
  spec.math = 0;
  return spec;
}

TEST(ConvTbcBackwardChecks, WorkspaceIsATenthOfTheOperands) {
  ExpectWorkspaceIsATenth(Operands(), Sized);
}

TEST(ConvTbcBackwardChecks, WorkspaceHasCopiesOfWhatIsApart) {
  ExpectWorkspaceHasCopies(Operands(), Sized);
}

TEST(ConvTbcBackwardChecks, EveryMathType) {
  ExpectMathTypesAreChecked(kApi, GoodSpec(), Operands());
}

Spec Sized(int64_t in_length, int64_t taps, int64_t pad, int64_t out_length) {
  Spec spec = GoodSpec();
  spec.self.dims[0] = out_length;
  spec.input.dims[0] = spec.grad_input.dims[0] = in_length;
  spec.weight.dims[0] = spec.grad_weight.dims[0] = taps;
  spec.pad = pad;
  return spec;
}

TEST(ConvTbcBackwardChecks, LimitsAreThoseOfTheProduct) {
  ExpectLimitsAreThoseOfTheProduct(
      kApi, [](int64_t taps, int64_t pad) { return Sized(7, taps, pad, 8 + 2 * pad - taps); });
}

TEST(ConvTbcBackwardChecks, LengthOfTheOutput) {
  const Device device;
  const auto code = [](auto... sizes) { return Plan(Sized(sizes...)).outcome().code; };
  EXPECT_EQ(code(7, 7, 0, 1), 0);
  EXPECT_EQ(code(7, 8, 0, 0), 161002);  // self without elements
  EXPECT_EQ(code(7, 9, 0, 1), 161002);
  EXPECT_EQ(code(0, 0, 0, 1), 0);
  EXPECT_EQ(code(0, 2, 1, 1), 0);
  EXPECT_EQ(code(7, 3, 1, 6), 161002);
}

// Where no limit comes first.
TEST(ConvTbcBackwardChecks, LengthThatOverflows) {
  const Device device{{"OPENACLNN_SOC", "Ascend950PR_9579"}};
  const auto code = [](auto... sizes) { return Plan(Sized(sizes...)).outcome().code; };
  EXPECT_EQ(code(7, 3, INT64_MAX, 3), 161002);
  EXPECT_EQ(code(INT64_MAX, 0, INT64_MAX, INT64_MAX), 161002);
  EXPECT_EQ(code(0, INT64_MAX, 0, 3), 161002);
  const auto expect = [](const Spec& spec, const char* got, const char* expected) {
    ExpectRefused(Plan(spec), kApi, 161002, got, expected);
  };
  constexpr int64_t kPad = int64_t{1} << 62;
  // 2^63 + 4, where INT64_MAX is all that a dimension holds.
  Spec longest = Sized(5, 2, kPad, INT64_MAX);
  longest.self = {.dims = {INT64_MAX, 1, 1}, .strides = Dims{0, 0, 0}, .storage = Dims{1}};
  longest.input.dims = longest.grad_input.dims = {5, 1, 1};
  longest.weight.dims = longest.grad_weight.dims = {2, 1, 1};
  longest.bias.dims = longest.grad_bias.dims = {1};
  expect(longest, "self dimension 0 is 9223372036854775807",
         "5 + 2 * 4611686018427387904 + 1 - 2, which is more than a dimension holds");
  // The shortest input, where it is negative.
  expect(Sized(INT64_MIN, 2, kPad, 3), "input dimension 0 is -9223372036854775808",
         "at least 0 for 2 taps and pad 4611686018427387904");
}

// Views that repeat one element, or have none, are as long as one likes.
TEST(ConvTbcBackwardChecks, HugeViewsArePlannedAtOnce) {
  const Device device{{"OPENACLNN_SOC", "Ascend950PR_9579"}};
  constexpr int64_t kHuge = int64_t{1} << 40;
  const auto call = [](int64_t in_length, int64_t batch, int64_t in_channels, int64_t taps,
                       int64_t pad) {
    Spec spec = GoodSpec();
    spec.self.dims = {in_length + 2 * pad - (taps - 1), batch, 4};
    spec.input.dims = spec.grad_input.dims = {in_length, batch, in_channels};
    spec.weight.dims = spec.grad_weight.dims = {taps, in_channels, 4};
    spec.pad = pad;
    return spec;
  };
  EXPECT_EQ(Plan(call(kHuge, 2, 0, kHuge, 0)).outcome().message, "");
  EXPECT_EQ(Plan(call(1, 4, 0, int64_t{1} << 62, int64_t{1} << 61)).outcome().message, "");
  EXPECT_EQ(Plan(call(kHuge, 1000, 1, 5, 2)).outcome().message, "");
  EXPECT_EQ(Plan(call(5, 1, 1, kHuge, kHuge / 2)).outcome().message, "");
  Spec repeated = call(kHuge, 1000, 0, 1, 0);
  repeated.self.strides = Dims{0, 0, 0};
  repeated.self.storage = Dims{1};
  EXPECT_EQ(Plan(repeated).outcome().message, "");
  // As many steps as a number holds: units of 1,024 rows of gradBias, two for each.
  Spec longest = call(1, 1, 1, 1, INT64_MAX / 2);
  longest.self = {.dims = {INT64_MAX, 1, 1}, .strides = Dims{0, 0, 0}, .storage = Dims{1}};
  longest.weight.dims[2] = longest.grad_weight.dims[2] = 1;
  longest.bias.dims[0] = longest.grad_bias.dims[0] = 1;
  const Planned planned = Plan(longest);
  EXPECT_EQ(planned.outcome().message, "");
  EXPECT_EQ(planned.workspace_size(), 2 * uint64_t{INT64_MAX / 1024} * (4 + 16));
}

INSTANTIATE_TYPED_TEST_SUITE_P(ConvTbcBackward, RoomChecks, Room);

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  return {{kApi, GoodSpec(), Operands(), AllRows(), kConvFamilies}};
}

}  // namespace openaclnn::test::conv_tbc::backward
