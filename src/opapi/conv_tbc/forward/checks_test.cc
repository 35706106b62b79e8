// SPDX-License-Identifier: Apache-2.0
// Calls that ConvTbc refuses in phase 1: every check, their order, every product, type and
// cubeMathType.
#include <gtest/gtest.h>

#include "conv_tbc/forward/test_case.h"
#include "tests/support/conv_checks.h"
#include "tests/support/room_checks.h"

namespace openaclnn::test::conv_tbc::forward {
namespace {

Spec GoodSpec() {
  Spec spec;
  spec.self = {.dims = {7, 2, 3}};
  spec.weight = {.dims = {3, 3, 4}};
  spec.bias = {.dims = {4}};
  spec.pad = 1;
  spec.out = {.dims = {7, 2, 4}};
  spec.math = 1;  // which every product has for every type
  return spec;
}

const SpecOperands<Spec>& Operands() {
  static const SpecOperands<Spec> operands = {
      ConvOperand("self", &Spec::self, false, false),
      ConvOperand("weight", &Spec::weight, false, false),
      ConvOperand("bias", &Spec::bias, false, true),
      ConvOperand("out", &Spec::out, true, false),
  };
  return operands;
}

std::vector<CheckRow<Spec>> AllRows() {
  std::vector<CheckRow<Spec>> rows;
  const auto add = [&](const std::vector<CheckRow<Spec>>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add(NullRows(Operands()));
  add(ConvDtypeRows(Operands()));
  add({{"weight dtype is FLOAT16", "that of self, FLOAT", 161002,
        [](Spec* s) { s->weight.dtype = ACL_FLOAT16; }},
       {"bias dtype is BFLOAT16", "that of self, FLOAT", 161002,
        [](Spec* s) { s->bias.dtype = ACL_BF16; }},
       {"out dtype is FLOAT16", "that of self, FLOAT", 161002,
        [](Spec* s) { s->out.dtype = ACL_FLOAT16; }}});
  add(ConvFormatRows(Operands()));
  add(ConvRankRows(Operands(), GoodSpec()));
  add(ConvGeometryRows(&Spec::self, "self"));
  add({{"out shape is (8, 2, 4)", "(7, 2, 4)", 161002, [](Spec* s) { s->out.dims[0] = 8; }}});
  add(ConvMathRows<Spec>());
  add({{"self view is (7, 2, 3) with strides (6, 3, 1) and offset 1",
        "one inside its storage of shape (7, 2, 3)", 161002, [](Spec* s) { s->self.offset = 1; }},
       {"out strides are (8, 4, 0)", "elements that do not overlap", 161002, [](Spec* s) {
          s->out.strides = Dims{8, 4, 0};
        }}});
  return rows;
}

/// FLOAT in the sizes of the case.
Spec Sized(const ConvCase& shape) {
  Spec spec = GoodSpec();
  spec.self.dims = shape.input();
  spec.weight.dims = shape.weight();
  spec.bias.dims = {shape.out_channels};
  spec.pad = shape.pad;
  spec.out.dims = shape.output();
  spec.math = 0;
  return spec;
}

TEST(ConvTbcChecks, WorkspaceIsATenthOfTheOperands) { ExpectWorkspaceIsATenth(Operands(), Sized); }

TEST(ConvTbcChecks, WorkspaceHasCopiesOfWhatIsApart) {
  ExpectWorkspaceHasCopies(Operands(), Sized);
}

TEST(ConvTbcChecks, EveryMathType) { ExpectMathTypesAreChecked(kApi, GoodSpec(), Operands()); }

Spec Sized(int64_t in_length, int64_t taps, int64_t pad, int64_t out_length) {
  Spec spec = GoodSpec();
  spec.self.dims[0] = in_length;
  spec.weight.dims[0] = taps;
  spec.pad = pad;
  spec.out.dims[0] = out_length;
  return spec;
}

TEST(ConvTbcChecks, LimitsAreThoseOfTheProduct) {
  ExpectLimitsAreThoseOfTheProduct(
      kApi, [](int64_t taps, int64_t pad) { return Sized(7, taps, pad, 8 + 2 * pad - taps); });
}

TEST(ConvTbcChecks, LengthOfTheOutput) {
  const Device device;
  const auto code = [](auto... sizes) { return Plan(Sized(sizes...)).outcome().code; };
  EXPECT_EQ(code(7, 8, 0, 0), 0);
  EXPECT_EQ(code(7, 9, 0, 0), 161002);
  EXPECT_EQ(code(0, 3, 1, 0), 0);
  EXPECT_EQ(code(0, 0, 0, 1), 0);
  EXPECT_EQ(code(7, 3, 1, 6), 161002);
  EXPECT_EQ(code(7, 3, 1, -7), 161002);
}

// Where no limit comes first.
TEST(ConvTbcChecks, LengthThatOverflows) {
  const Device device{{"OPENACLNN_SOC", "Ascend950PR_9579"}};
  const auto code = [](auto... sizes) { return Plan(Sized(sizes...)).outcome().code; };
  EXPECT_EQ(code(7, 3, INT64_MAX, 3), 161002);
  EXPECT_EQ(code(INT64_MAX, 0, INT64_MAX, INT64_MAX), 161002);
  EXPECT_EQ(code(0, INT64_MAX, 0, 0), 161002);
  const auto expect = [](const Spec& spec, const char* got, const char* expected) {
    ExpectRefused(Plan(spec), kApi, 161002, got, expected);
  };
  constexpr int64_t kPad = int64_t{1} << 62;
  // 2^63 + 4, where INT64_MAX is all that a dimension holds.
  Spec longest = Sized(5, 2, kPad, INT64_MAX);
  for (TensorSpec Spec::*member : {&Spec::self, &Spec::weight, &Spec::out}) {
    const int64_t length = (longest.*member).dims[0];
    longest.*member = {.dims = {length, 1, 1}, .strides = Dims{0, 0, 0}, .storage = Dims{1}};
  }
  longest.bias.dims = {1};
  expect(longest, "out dimension 0 is 9223372036854775807",
         "5 + 2 * 4611686018427387904 + 1 - 2, which is more than a dimension holds");
  // The shortest self, where it is negative.
  expect(Sized(INT64_MIN, 2, kPad, 3), "self dimension 0 is -9223372036854775808",
         "at least 0 for 2 taps and pad 4611686018427387904");
}

// Views that repeat one element, or have none, are as long as one likes.
TEST(ConvTbcChecks, HugeViewsArePlannedAtOnce) {
  const Device device{{"OPENACLNN_SOC", "Ascend950PR_9579"}};
  constexpr int64_t kHuge = int64_t{1} << 40;
  const auto repeated = [](const Dims& dims) {
    return TensorSpec{.dims = dims, .strides = Dims(dims.size(), 0), .storage = Dims{1}};
  };
  Spec empty_out = GoodSpec();
  empty_out.self = repeated({kHuge, 2, 3});
  empty_out.weight.dims = {1, 3, 0};
  empty_out.bias.dims = {0};
  empty_out.pad = 0;
  empty_out.out.dims = {kHuge, 2, 0};
  EXPECT_EQ(Plan(empty_out).outcome().message, "");
  Spec long_one = GoodSpec();
  long_one.self = repeated({kHuge, 1000, 1});
  long_one.weight.dims = {5, 1, 4};
  long_one.pad = 2;
  long_one.out.dims = {kHuge, 1000, 4};
  EXPECT_EQ(Plan(long_one).outcome().message, "");
  // Two steps: T_in + 2 pad + 1 - L.
  Spec no_channels = GoodSpec();
  no_channels.self.dims = {1, 4, 0};
  no_channels.weight.dims = {int64_t{1} << 62, 0, 4};
  no_channels.pad = int64_t{1} << 61;
  no_channels.out.dims = {2, 4, 4};
  EXPECT_EQ(Plan(no_channels).outcome().message, "");
  Spec many_taps = GoodSpec();
  many_taps.self.dims = {1, 1000, 1};
  many_taps.weight = repeated({int64_t{1} << 60, 1, 4});
  many_taps.pad = int64_t{1} << 59;
  many_taps.out.dims = {2, 1000, 4};
  const Planned planned = Plan(many_taps);
  EXPECT_EQ(planned.outcome().message, "");
  EXPECT_LT(planned.workspace_size(), uint64_t{1} << 26);  // packed in segments
  Spec no_steps = GoodSpec();
  no_steps.self = {.dims = {0, 1, 3}, .strides = Dims{INT64_MAX, INT64_MAX, 1}};
  no_steps.pad = 2;
  no_steps.out.dims = {2, 1, 4};
  EXPECT_EQ(Plan(no_steps).outcome().message, "");
}

INSTANTIATE_TYPED_TEST_SUITE_P(ConvTbc, RoomChecks, Room);

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  return {{kApi, GoodSpec(), Operands(), AllRows(), kConvFamilies}};
}

}  // namespace openaclnn::test::conv_tbc::forward
