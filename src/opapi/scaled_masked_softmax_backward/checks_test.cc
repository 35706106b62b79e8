// SPDX-License-Identifier: Apache-2.0
// What ScaledMaskedSoftmaxBackward refuses in phase 1: every check, their order, every product and
// type.
#include "tests/support/checks.h"

#include <gtest/gtest.h>

#include "scaled_masked_softmax_backward/test_case.h"
#include "tests/support/walks.h"

namespace openaclnn::test::scaled_masked_softmax_backward {
namespace {

using Row = CheckRow<Spec>;

Spec GoodSpec() {
  Spec spec;
  spec.grad_output = spec.y = spec.out = {.dims = {2, 3, 4, 5}};
  spec.mask = {.dims = {2, 1, 4, 5}, .dtype = ACL_BOOL};
  return spec;
}

const std::vector<aclDataType> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

SpecOperands<Spec> Operands() {
  return {{"gradOutput", &Spec::grad_output, kFloats, true},
          {"y", &Spec::y, kFloats, true},
          {"mask", &Spec::mask, {ACL_BOOL}},
          {"out", &Spec::out, kFloats, true, true}};
}

std::vector<Row> NullRows() {
  return {
      {"workspaceSize value is null", "", 161001, [](Spec* s) { s->null_workspace_size = true; }},
      {"executor value is null", "", 161001, [](Spec* s) { s->null_executor = true; }},
      {"gradOutput value is null", "a tensor", 161001,
       [](Spec* s) { s->grad_output.given = TensorSpec::kNull; }},
      {"y value is null", "a tensor", 161001, [](Spec* s) { s->y.given = TensorSpec::kNull; }},
      {"mask value is null", "a tensor", 161001,
       [](Spec* s) { s->mask.given = TensorSpec::kNull; }},
      {"out value is null", "a tensor", 161001, [](Spec* s) { s->out.given = TensorSpec::kNull; }},
  };
}

std::vector<Row> TypeAndFormatRows() {
  const std::string floats = "one of FLOAT, FLOAT16, BFLOAT16 on Ascend910B1";
  const std::string plain = "one of UNDEFINED, ND, NCHW, NHWC, HWCN, NDHWC, NCDHW, NCL";
  return {
      {"gradOutput dtype is INT8", floats, 161002,
       [](Spec* s) { s->grad_output.dtype = ACL_INT8; }},
      {"y dtype is DOUBLE", floats, 161002, [](Spec* s) { s->y.dtype = ACL_DOUBLE; }},
      {"mask dtype is UINT8", "one of BOOL on Ascend910B1", 161002,
       [](Spec* s) { s->mask.dtype = ACL_UINT8; }},
      {"out dtype is INT64", floats, 161002, [](Spec* s) { s->out.dtype = ACL_INT64; }},
      {"gradOutput format is number 29", plain, 161002,
       [](Spec* s) { s->grad_output.format = ACL_FORMAT_FRACTAL_NZ; }},
      {"y format is number 3", plain, 161002, [](Spec* s) { s->y.format = ACL_FORMAT_NC1HWC0; }},
      {"mask format is number 29", plain, 161002,
       [](Spec* s) { s->mask.format = ACL_FORMAT_FRACTAL_NZ; }},
      {"out format is number 4", plain, 161002,
       [](Spec* s) { s->out.format = ACL_FORMAT_FRACTAL_Z; }},
  };
}

std::vector<Row> ShapeRows() {
  return {
      {"gradOutput rank is 3 (shape (6, 4, 5))", "4", 161002,
       [](Spec* s) {
         s->grad_output.dims = {6, 4, 5};
       }},
      {"gradOutput last dimension is 4097", "0 to 4096 on Ascend910B1", 161002,
       [](Spec* s) {
         s->grad_output.dims = {2, 3, 4, 4097};
       }},
      {"y shape is (2, 3, 5, 4)", "that of gradOutput, (2, 3, 4, 5)", 161002,
       [](Spec* s) {
         s->y.dims = {2, 3, 5, 4};
       }},
      {"y dtype is FLOAT16", "that of gradOutput, FLOAT", 161002,
       [](Spec* s) { s->y.dtype = ACL_FLOAT16; }},
      {"out shape is (2, 3, 20)", "that of gradOutput, (2, 3, 4, 5)", 161002,
       [](Spec* s) {
         s->out.dims = {2, 3, 20};
       }},
      {"out dtype is BFLOAT16", "that of gradOutput, FLOAT", 161002,
       [](Spec* s) { s->out.dtype = ACL_BF16; }},
      {"mask rank is 2 (shape (4, 5))", "4", 161002,
       [](Spec* s) {
         s->mask.dims = {4, 5};
       }},
      {"mask shape is (2, 2, 4, 5)",
       "gradOutput's last two dimensions after two that are 1 or gradOutput's (gradOutput shape "
       "(2, 3, 4, 5))",
       161002,
       [](Spec* s) {
         s->mask.dims = {2, 2, 4, 5};
       }},
      {"fixTriuMask value is true", "false", 161002, [](Spec* s) { s->fix_triu_mask = true; }},
      {"gradOutput view is (2, 3, 4, 5) with strides (60, 20, 5, 1) and offset 1",
       "one inside its storage of shape (120)", 161002,
       [](Spec* s) {
         s->grad_output.storage = Dims{120};
         s->grad_output.offset = 1;
       }},
      {"y view is (2, 3, 4, 5)", "one inside its storage of shape (119)", 161002,
       [](Spec* s) { s->y.storage = Dims{119}; }},
      {"mask view is (2, 1, 4, 5)", "one inside its storage of shape (2, 1, 4, 5)", 161002,
       [](Spec* s) { s->mask.offset = -1; }},
      {"out view is (2, 3, 4, 5)", "one inside its storage of shape (7, 17)", 161002,
       [](Spec* s) {
         s->out.storage = Dims{7, 17};
       }},
  };
}

std::vector<Row> AllRows() {
  std::vector<Row> rows = NullRows();
  for (Row& row : TypeAndFormatRows()) rows.push_back(std::move(row));
  for (Row& row : ShapeRows()) rows.push_back(std::move(row));
  return rows;
}

TEST(ScaledMaskedSoftmaxBackwardChecks, EachRow) {
  const Device device;
  ExpectEachRow(kApi, GoodSpec(), AllRows());
}

TEST(ScaledMaskedSoftmaxBackwardChecks, EarlierRowWins) {
  const Device device;
  ExpectEarlierWins(kApi, GoodSpec(), AllRows());
}

TEST(ScaledMaskedSoftmaxBackwardChecks, ProductComesAfterNulls) {
  ExpectProductComesAfterNulls(kApi, GoodSpec(), AllRows(), "Ascend910A", "910", "A2, A3, 950");
  ExpectProductComesAfterNulls(kApi, GoodSpec(), AllRows(), "Ascend310P3", "310P", "A2, A3, 950");
}

TEST(ScaledMaskedSoftmaxBackwardChecks, EveryProductOperandAndType) {
  ExpectTypesAreChecked(kApi, GoodSpec(), Operands(), {Family::kA2, Family::kA3, Family::k950});
}

TEST(ScaledMaskedSoftmaxBackwardChecks, HandlesFormatsAndSizes) {
  const Device device;
  ExpectHandlesAreChecked(kApi, GoodSpec(), Operands());
  ExpectNumbersAreChecked(GoodSpec(), Operands());
  ExpectSizesAreChecked(GoodSpec(), Operands());
}

TEST(ScaledMaskedSoftmaxBackwardChecks, WidthOnEveryProduct) {
  for (const ProductEntry& product : kProducts) {
    const Device device{{"OPENACLNN_SOC", product.name}};
    const bool supported = product.family == Family::kA2 || product.family == Family::kA3 ||
                           product.family == Family::k950;
    if (!supported) continue;
    const int64_t most = product.family == Family::k950 ? 8192 : 4096;
    for (const int64_t width : {int64_t{0}, int64_t{1}, most, most + 1, int64_t{1} << 40}) {
      Spec spec = GoodSpec();
      spec.grad_output.dims[3] = spec.y.dims[3] = spec.mask.dims[3] = spec.out.dims[3] = width;
      const Planned planned = Plan(spec);
      EXPECT_EQ(planned.outcome().code, width <= most ? 0 : 161002) << product.name << width;
      if (width <= most) continue;
      ExpectRefused(planned, kApi, 161002, "gradOutput last dimension is " + std::to_string(width),
                    "0 to " + std::to_string(most) + " on " + product.name);
    }
  }
}

TEST(ScaledMaskedSoftmaxBackwardChecks, EveryRank) {
  const Device device;
  for (TensorSpec Spec::*operand : {&Spec::grad_output, &Spec::y, &Spec::mask, &Spec::out}) {
    for (size_t rank = 0; rank <= 9; ++rank) {
      Spec spec = GoodSpec();
      spec.grad_output.dims = spec.y.dims = spec.mask.dims = spec.out.dims = {2, 2, 2, 2};
      (spec.*operand).dims = Dims(rank, 2);
      EXPECT_EQ(Plan(spec).outcome().code, rank == 4 ? 0 : 161002) << rank;
    }
  }
  for (size_t rank = 0; rank <= 9; ++rank) {
    Spec spec = GoodSpec();
    spec.grad_output.dims = spec.y.dims = spec.mask.dims = spec.out.dims = Dims(rank, 1);
    EXPECT_EQ(Plan(spec).outcome().code, rank == 4 ? 0 : 161002) << rank;
  }
}

TEST(ScaledMaskedSoftmaxBackwardChecks, MaskShapes) {
  const Device device;
  const auto code = [](const Dims& data, const Dims& mask) {
    Spec spec = GoodSpec();
    spec.grad_output.dims = spec.y.dims = spec.out.dims = data;
    spec.mask.dims = mask;
    return Plan(spec).outcome().code;
  };
  const Dims data = {2, 3, 4, 5};
  for (const MaskMode mode : kMaskModes) EXPECT_EQ(code(data, MaskDims(data, mode)), 0);
  EXPECT_EQ(code(data, {2, 3, 1, 5}), 161002);
  EXPECT_EQ(code(data, {2, 3, 4, 1}), 161002);
  EXPECT_EQ(code(data, {3, 2, 4, 5}), 161002);
  EXPECT_EQ(code(data, {2, 3, 5, 4}), 161002);
  EXPECT_EQ(code(data, {0, 3, 4, 5}), 161002);
  EXPECT_EQ(code(data, {4, 3, 4, 5}), 161002);
  EXPECT_EQ(code(data, {2, 3, 4, 6}), 161002);
  EXPECT_EQ(code({0, 3, 4, 5}, {0, 3, 4, 5}), 0);
  EXPECT_EQ(code({0, 3, 4, 5}, {1, 1, 4, 5}), 0);
  EXPECT_EQ(code({0, 3, 4, 5}, {2, 1, 4, 5}), 161002);
  EXPECT_EQ(code({2, 3, 0, 5}, {1, 3, 0, 5}), 0);
  EXPECT_EQ(code({2, 3, 4, 0}, {1, 1, 4, 0}), 0);
  EXPECT_EQ(code({1, 1, 1, 1}, {1, 1, 1, 1}), 0);
  EXPECT_EQ(code({1, 1, 1, 1}, {2, 1, 1, 1}), 161002);
}

TEST(ScaledMaskedSoftmaxBackwardChecks, OutputThatOverlapsItself) {
  const Device device;
  for (const Dims& strides : {Dims{60, 20, 5, 0}, Dims{0, 20, 5, 1}, Dims{60, 20, 4, 1}}) {
    Spec spec = GoodSpec();
    spec.out.strides = strides;
    ExpectRefused(Plan(spec), kApi, 161002, "out strides are (", "elements that do not overlap");
  }
}

TEST(ScaledMaskedSoftmaxBackwardChecks, ViewsWithoutElementsReachNothing) {
  const Device device;
  constexpr int64_t kHuge = int64_t{1} << 40;
  Spec spec = GoodSpec();
  spec.grad_output = {.dims = {2, 3, 4, 0},
                      .strides = Dims{INT64_MAX, INT64_MIN, INT64_MAX, 1},
                      .offset = -9,
                      .storage = Dims{1}};
  spec.y = spec.out = spec.grad_output;
  spec.mask.dims = {1, 3, 4, 0};
  EXPECT_EQ(Plan(spec).outcome().message, "");
  spec.grad_output = {.dims = {kHuge, kHuge, kHuge, 0}, .strides = Dims{0, 0, 0, 1}};
  spec.y = spec.out = spec.grad_output;
  spec.mask.dims = {1, 1, kHuge, 0};
  EXPECT_EQ(Execute(device, Plan(spec), aclnnScaledMaskedSoftmaxBackward).message, "");
}

}  // namespace
}  // namespace openaclnn::test::scaled_masked_softmax_backward
