// SPDX-License-Identifier: Apache-2.0
// What NsaCompressGrad refuses in phase 1: every check, their order, every product and type.
#include "tests/support/checks.h"

#include <gtest/gtest.h>

#include "nsa_compress_grad/test_case.h"
#include "tests/support/walks.h"

namespace openaclnn::test::nsa_compress_grad {
namespace {

using Row = CheckRow<Spec>;

/// Tensors that agree with a case.
void Resize(Spec* spec, const WindowCase& shape) {
  const auto windows = static_cast<int64_t>(WindowStarts(shape).size());
  spec->output_grad.dims = {windows, shape.heads, shape.width};
  spec->input.dims = spec->input_grad.dims = {shape.tokens, shape.heads, shape.width};
  spec->weight.dims = spec->weight_grad.dims = {shape.block, shape.heads};
  spec->list = ListOf(shape);
  spec->block = shape.block;
  spec->stride = shape.stride;
}

WindowCase ShapeOf(const Spec& spec) {
  const Dims& input = spec.input.dims;
  return {"", kEdge, spec.list.values, input[0], input[1], input[2], spec.block, spec.stride};
}

Spec SpecOf(const WindowCase& shape) {
  Spec spec;
  for (TensorSpec Spec::*operand :
       {&Spec::output_grad, &Spec::input, &Spec::weight, &Spec::input_grad, &Spec::weight_grad}) {
    (spec.*operand).dtype = ACL_FLOAT16;
  }
  Resize(&spec, shape);
  return spec;
}

/// 1 + 2 windows.
WindowCase GoodShape() { return {"", kEdge, {32, 80}, 80, 2, 16, 32, 16}; }
Spec GoodSpec() { return SpecOf(GoodShape()); }

const SpecOperands<Spec> kOperands = {
    {"outputGrad", &Spec::output_grad, {ACL_FLOAT16, ACL_BF16}, true},
    {"input", &Spec::input, {ACL_FLOAT16, ACL_BF16}, true},
    {"weight", &Spec::weight, {ACL_FLOAT16, ACL_BF16}, true},
    {"inputGradOut", &Spec::input_grad, {ACL_FLOAT16, ACL_BF16}, true, true},
    {"weightGradOut", &Spec::weight_grad, {ACL_FLOAT16, ACL_BF16}, true, true}};

/// One row for each operand.
template <class MakeRow>
void AddRows(std::vector<Row>* rows, MakeRow&& make) {
  for (const SpecOperand<Spec>& operand : kOperands) {
    rows->push_back(make(std::string(operand.name), operand.member));
  }
}

std::vector<Row> NullRows() {
  std::vector<Row> rows = {
      {"workspaceSize value is null", "", 161001, [](Spec* s) { s->null_workspace_size = true; }},
      {"executor value is null", "", 161001, [](Spec* s) { s->null_executor = true; }}};
  AddRows(&rows, [](const std::string& name, TensorSpec Spec::*operand) {
    return Row{name + " value is null", "a tensor", 161001,
               [=](Spec* s) { (s->*operand).given = TensorSpec::kNull; }};
  });
  return rows;
}

void AddTypeAndFormatRows(std::vector<Row>* rows) {
  AddRows(rows, [](const std::string& name, TensorSpec Spec::*operand) {
    return Row{name + " dtype is FLOAT", "one of FLOAT16, BFLOAT16 on Ascend910B1", 161002,
               [=](Spec* s) { (s->*operand).dtype = ACL_FLOAT; }};
  });
  AddRows(rows, [](const std::string& name, TensorSpec Spec::*operand) {
    return Row{name + " format is number 29",
               "one of UNDEFINED, ND, NCHW, NHWC, HWCN, NDHWC, NCDHW, NCL", 161002,
               [=](Spec* s) { (s->*operand).format = ACL_FORMAT_FRACTAL_NZ; }};
  });
  rows->push_back({"layoutOptionalOptional value is 'BSND'", "null or 'TND'", 161002,
                   [](Spec* s) { s->layout = "BSND"; }});
  rows->push_back({"actSeqLenType value is 1", "0", 161002, [](Spec* s) { s->type = 1; }});
}

void AddRankAndEmptyRows(std::vector<Row>* rows) {
  AddRows(rows, [](const std::string& name, TensorSpec Spec::*operand) {
    const bool matrix = operand == &Spec::weight || operand == &Spec::weight_grad;
    return Row{name + " rank is 4 (shape (2, 2, 2, 2))", matrix ? "2" : "3", 161002, [=](Spec* s) {
                 (s->*operand).dims = {2, 2, 2, 2};
               }};
  });
  AddRows(rows, [](const std::string& name, TensorSpec Spec::*operand) {
    const bool matrix = operand == &Spec::weight || operand == &Spec::weight_grad;
    return Row{name + (matrix ? " shape is (32, 0)" : " shape is (80, 2, 0)"), "elements", 161002,
               [=](Spec* s) {
                 (s->*operand).dims = matrix ? Dims{32, 0} : Dims{80, 2, 0};
               }};
  });
}

void AddValueRows(std::vector<Row>* rows) {
  const std::string list = "actSeqLenOptionalOptional value ";
  for (Row& row : std::vector<Row>{
           {"compressStride value is 0", "more than 0", 161002, [](Spec* s) { s->stride = 0; }},
           {"compressBlockSize value is 16", "at least 17 with compressStride 16", 161002,
            [](Spec* s) { s->block = s->stride; }},
           {"weight shape is (48, 2)", "(32, 2)", 161002,
            [](Spec* s) {
              s->weight.dims = {48, 2};
            }},
           {list + "0 is -1", "at least 0", 161002,
            [](Spec* s) {
              s->list.values = {-1, 80};
            }},
           {list + "1 is 31", "at least 32, the one before", 161002,
            [](Spec* s) {
              s->list.values = {32, 31, 80};
            }},
           {list + "1 is 79", "80, the tokens of input", 161002,
            [](Spec* s) {
              s->list.values = {32, 79};
            }},
           {"outputGrad shape is (9, 2, 16)", "(3, 2, 16)", 161002,
            [](Spec* s) {
              s->output_grad.dims = {9, 2, 16};
            }},
           {"inputGradOut shape is (81, 2, 16)", "(80, 2, 16)", 161002,
            [](Spec* s) {
              s->input_grad.dims = {81, 2, 16};
            }},
           {"weightGradOut shape is (32, 3)", "(32, 2)", 161002,
            [](Spec* s) {
              s->weight_grad.dims = {32, 3};
            }},
       }) {
    rows->push_back(std::move(row));
  }
}

/// A row whose tensors agree with each other after the change.
Row SizeRow(std::string got, std::string expected, int code, void (*change)(WindowCase*)) {
  return {std::move(got), std::move(expected), code, [=](Spec* s) {
            WindowCase shape = ShapeOf(*s);
            change(&shape);
            Resize(s, shape);
          }};
}

void AddLimitRows(std::vector<Row>* rows) {
  rows->push_back(SizeRow("input dimension 1 is 129", "at most 128", 161002,
                          [](WindowCase* c) { c->heads = 129; }));
  rows->push_back(SizeRow("input dimension 2 is 272", "at most 256", 161002,
                          [](WindowCase* c) { c->width = 272; }));
  rows->push_back(
      SizeRow("compressBlockSize value is 144", "at most 128", 161002, [](WindowCase* c) {
        c->block = 144;
        c->tokens = 200;
        c->ends = {0, 200};
      }));
  const std::string whole = "a multiple of 16 on Ascend910B1";
  rows->push_back(SizeRow("compressBlockSize value is 40", whole, 561002,
                          [](WindowCase* c) { c->block = 40; }));
  rows->push_back(
      SizeRow("compressStride value is 8", whole, 561002, [](WindowCase* c) { c->stride = 8; }));
  rows->push_back(
      SizeRow("input dimension 2 is 24", whole, 561002, [](WindowCase* c) { c->width = 24; }));
}

std::vector<Row> AllRows() {
  std::vector<Row> rows = NullRows();
  AddTypeAndFormatRows(&rows);
  AddRankAndEmptyRows(&rows);
  AddValueRows(&rows);
  AddLimitRows(&rows);
  AddRows(&rows, [](const std::string& name, TensorSpec Spec::*operand) {
    return Row{name + " view is (", "one inside its storage of shape (5)", 161002,
               [=](Spec* s) { (s->*operand).storage = Dims{5}; }};
  });
  return rows;
}

TEST(NsaCompressGradChecks, EachRow) {
  const Device device;
  std::vector<Row> rows = AllRows();
  for (const SpecOperand<Spec>& operand : kOperands) {
    if (operand.member == &Spec::output_grad) continue;
    rows.push_back({std::string(operand.name) + " dtype is BFLOAT16", "that of outputGrad, FLOAT16",
                    161002, [&](Spec* s) { (s->*operand.member).dtype = ACL_BF16; }});
  }
  rows.push_back({"input dtype is FLOAT16", "that of outputGrad, BFLOAT16", 161002,
                  [](Spec* s) { s->output_grad.dtype = ACL_BF16; }});
  ExpectEachRow(kApi, GoodSpec(), rows);
}

TEST(NsaCompressGradChecks, EarlierRowWins) {
  const Device device;
  ExpectEarlierWins(kApi, GoodSpec(), AllRows());
}

TEST(NsaCompressGradChecks, ProductComesAfterNulls) {
  ExpectProductComesAfterNulls(kApi, GoodSpec(), AllRows(), "Ascend910_9391", "A3", "A2");
  ExpectProductComesAfterNulls(kApi, GoodSpec(), AllRows(), "Ascend310P3", "310P", "A2");
}

TEST(NsaCompressGradChecks, EveryProductOperandAndType) {
  ExpectTypesAreChecked(kApi, GoodSpec(), kOperands, {Family::kA2});
}

TEST(NsaCompressGradChecks, HandlesFormatsAndSizes) {
  const Device device;
  ExpectHandlesAreChecked(kApi, GoodSpec(), kOperands);
  ExpectNumbersAreChecked(GoodSpec(), kOperands);
  ExpectSizesAreChecked(GoodSpec(), kOperands);
}

TEST(NsaCompressGradChecks, EveryRank) {
  const Device device;
  for (const SpecOperand<Spec>& operand : kOperands) {
    const size_t wanted = (GoodSpec().*operand.member).dims.size();
    for (size_t rank = 0; rank <= 9; ++rank) {
      Spec spec = GoodSpec();
      (spec.*operand.member).dims.resize(rank, 1);
      EXPECT_EQ(Plan(spec).outcome().code, rank == wanted ? 0 : 161002) << operand.name << rank;
    }
  }
}

TEST(NsaCompressGradChecks, Layout) {
  const Device device;
  Spec spec = GoodSpec();
  spec.layout = "TND";
  EXPECT_EQ(Plan(spec).outcome().message, "");
  const std::string endless(5000, 'T');
  for (const char* layout : {"", "T", "TN", "tnd", "TNDT", " TND", "BSH", "NTD", endless.c_str()}) {
    spec.layout = layout;
    EXPECT_EQ(Plan(spec).outcome().code, 161002) << layout;
  }
}

TEST(NsaCompressGradChecks, ActSeqLenType) {
  const Device device;
  for (const int64_t type :
       {int64_t{-1}, int64_t{1}, int64_t{2}, INT64_MAX, INT64_MIN, int64_t{1} << 32}) {
    Spec spec = GoodSpec();
    spec.type = type;
    ExpectRefused(Plan(spec), kApi, 161002, "actSeqLenType value is " + std::to_string(type), "0");
  }
}

TEST(NsaCompressGradChecks, ListsThatAreNone) {
  const Device device;
  Spec spec = GoodSpec();
  const std::string name = "actSeqLenOptionalOptional value is ";
  spec.list.given = IntListSpec::kForeign;
  ExpectRefused(Plan(spec), kApi, 161002, name + "not the handle of an array", "a live array");
  spec.list.given = IntListSpec::kDestroyed;
  ExpectRefused(Plan(spec), kApi, 161002, name + "a handle that was destroyed", "a live array");
  // Null and empty: one segment, of 4 windows.
  for (const IntListSpec& none : {IntListSpec{{}, IntListSpec::kNull}, IntListSpec{}}) {
    spec = GoodSpec();
    spec.list = none;
    ExpectRefused(Plan(spec), kApi, 161002, "outputGrad shape is (3, 2, 16)", "(4, 2, 16)");
    spec.output_grad.dims[0] = 4;
    EXPECT_EQ(Plan(spec).outcome().message, "");
  }
}

TEST(NsaCompressGradChecks, Lists) {
  const Device device;
  const auto code = [](const Dims& ends, int64_t windows) {
    Spec spec = GoodSpec();
    spec.list.values = ends;
    spec.output_grad.dims[0] = windows;
    return Plan(spec).outcome().code;
  };
  EXPECT_EQ(code({80}, 4), 0);
  EXPECT_EQ(code({0, 80}, 4), 0);
  EXPECT_EQ(code({0, 0, 0, 32, 32, 80, 80}, 3), 0);
  EXPECT_EQ(code({80, 80}, 4), 0);
  EXPECT_EQ(code({31, 80}, 2), 0);
  EXPECT_EQ(code({31, 62, 80}, 1), 161002) << "no window is an empty outputGrad";
  EXPECT_EQ(code({}, 4), 0);
  EXPECT_EQ(code({79}, 3), 161002);
  EXPECT_EQ(code({81}, 4), 161002);
  EXPECT_EQ(code({0}, 4), 161002);
  EXPECT_EQ(code({-1, 80}, 4), 161002);
  EXPECT_EQ(code({INT64_MIN, 80}, 4), 161002);
  EXPECT_EQ(code({INT64_MAX, 80}, 4), 161002);
  EXPECT_EQ(code({INT64_MAX}, 4), 161002);
  EXPECT_EQ(code({32, 31, 80}, 3), 161002);
  EXPECT_EQ(code({32, -80, 80}, 3), 161002);
  EXPECT_EQ(code({32, 80, 79}, 3), 161002);
  EXPECT_EQ(code({80, 0}, 4), 161002);
}

TEST(NsaCompressGradChecks, BlocksAndStrides) {
  const Device device;
  const auto code = [](int64_t block, int64_t stride) {
    Spec spec = GoodSpec();
    spec.block = block;
    spec.stride = stride;
    return Plan(spec).outcome().code;
  };
  for (const int64_t value : {INT64_MIN, int64_t{-16}, int64_t{0}, INT64_MAX}) {
    EXPECT_EQ(code(32, value), 161002) << value;
    EXPECT_EQ(code(value, 16), 161002) << value;
    EXPECT_EQ(code(value, value), 161002) << value;
  }
  const auto agreeing = [](int64_t block, int64_t stride) {
    return Plan(SpecOf({"", kEdge, {}, 200, 1, 16, block, stride})).outcome().code;
  };
  EXPECT_EQ(agreeing(32, 32), 161002) << "block = stride is the forward's only";
  EXPECT_EQ(agreeing(16, 32), 161002);
  EXPECT_EQ(agreeing(33, 16), 561002);
  EXPECT_EQ(agreeing(17, 16), 561002);
  EXPECT_EQ(agreeing(32, 31), 561002);
  EXPECT_EQ(agreeing(32, 1), 561002);
  EXPECT_EQ(agreeing(2, 1), 561002);
}

TEST(NsaCompressGradChecks, LimitsAtTheirBoundary) {
  const Device device;
  const auto code = [](int64_t heads, int64_t width, int64_t block, int64_t stride) {
    return Plan(SpecOf({"", kEdge, {}, 300, heads, width, block, stride})).outcome().code;
  };
  EXPECT_EQ(code(128, 256, 128, 112), 0);
  EXPECT_EQ(code(129, 256, 128, 112), 161002);
  EXPECT_EQ(code(128, 257, 128, 112), 161002);
  EXPECT_EQ(code(128, 272, 128, 112), 161002);
  EXPECT_EQ(code(128, 255, 128, 112), 561002);
  EXPECT_EQ(code(128, 256, 129, 112), 161002);
  EXPECT_EQ(code(128, 256, 144, 112), 161002);
  EXPECT_EQ(code(1, 16, 32, 16), 0);
  EXPECT_EQ(code(1, 8, 32, 16), 561002);
}

TEST(NsaCompressGradChecks, OutputsThatOverlapThemselves) {
  const Device device;
  for (const Dims& strides : {Dims{0, 16, 1}, Dims{32, 0, 1}, Dims{32, 16, 0}, Dims{32, 8, 1}}) {
    Spec spec = GoodSpec();
    spec.input_grad.strides = strides;
    ExpectRefused(Plan(spec), kApi, 161002, "inputGradOut strides are (",
                  "elements that do not overlap");
  }
  for (const Dims& strides : {Dims{0, 1}, Dims{2, 0}, Dims{1, 1}}) {
    Spec spec = GoodSpec();
    spec.weight_grad.strides = strides;
    ExpectRefused(Plan(spec), kApi, 161002, "weightGradOut strides are (",
                  "elements that do not overlap");
  }
}

// The sums of each unit of windows, the weight, and a copy of what is not dense along its rows.
TEST(NsaCompressGradChecks, WorkspaceSize) {
  const Device device;
  const auto size = [](const Spec& spec) { return Plan(spec).workspace_size(); };
  constexpr uint64_t kTable = 4 * 32 * 3;
  const auto of_windows = [&](int64_t windows, int64_t width) {
    return size(SpecOf({"", kEdge, {}, 16 * windows + 16, 3, width, 32, 16})) / kTable;
  };
  EXPECT_EQ(of_windows(1, 16), 1u + 1u);
  EXPECT_EQ(of_windows(512, 16), 1u + 1u);
  EXPECT_EQ(of_windows(513, 16), 1u + 2u);
  EXPECT_EQ(of_windows(168, 48), 1u + 1u);
  EXPECT_EQ(of_windows(169, 48), 1u + 2u);
  EXPECT_EQ(of_windows(64, 256), 1u + 2u);
  EXPECT_EQ(of_windows(65, 256), 1u + 3u);
  Spec spec = SpecOf({"", kEdge, {}, 33, 3, 16, 32, 16});
  spec.input.strides = Dims{48, 1, 3};
  EXPECT_EQ(size(spec), 2 * kTable + (33 * 48 * 2 + 63) / 64 * 64);
  spec.input_grad.strides = spec.input.strides;
  spec.output_grad.strides = Dims{0, 0, 0};
  EXPECT_EQ(size(spec), 2 * kTable + 2 * ((33 * 48 * 2 + 63) / 64 * 64) + 128);
  spec.weight.strides = spec.weight_grad.strides = Dims{1, 32};
  EXPECT_EQ(size(spec), 2 * kTable + 2 * ((33 * 48 * 2 + 63) / 64 * 64) + 128);
}

// The work is described by segments, not by windows or tokens.
TEST(NsaCompressGradChecks, ManyTokensArePlannedAtOnce) {
  const Device device;
  constexpr int64_t kTokens = int64_t{1} << 40;
  Spec spec = GoodSpec();
  spec.list = {{kTokens}, IntListSpec::kList};
  spec.block = 32;
  spec.stride = 16;
  spec.input.dims = {kTokens, 1, 16};
  spec.weight.dims = {32, 1};
  spec.output_grad.dims = {(kTokens - 32) / 16 + 1, 1, 16};
  spec.input_grad.dims = {kTokens, 1, 16};
  spec.weight_grad.dims = {32, 1};
  EXPECT_EQ(Plan(spec).outcome().message, "");
}

}  // namespace
}  // namespace openaclnn::test::nsa_compress_grad
