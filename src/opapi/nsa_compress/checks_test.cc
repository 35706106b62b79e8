// SPDX-License-Identifier: Apache-2.0
// What NsaCompress refuses in phase 1: every check, their order, every product and type.
#include "tests/support/checks.h"

#include <gtest/gtest.h>

#include "nsa_compress/test_case.h"
#include "tests/support/walks.h"

namespace openaclnn::test::nsa_compress {
namespace {

using Row = CheckRow<Spec>;

/// Tensors that agree with a case.
void Resize(Spec* spec, const WindowCase& shape) {
  const auto windows = static_cast<int64_t>(WindowStarts(shape).size());
  spec->input.dims = {shape.tokens, shape.heads, shape.width};
  spec->weight.dims = {shape.block, shape.heads};
  spec->list = {shape.ends, IntListSpec::kList};
  spec->block = shape.block;
  spec->stride = shape.stride;
  spec->output.dims = {windows, shape.heads, shape.width};
}

WindowCase ShapeOf(const Spec& spec) {
  const Dims& input = spec.input.dims;
  return {"", kEdge, spec.list.values, input[0], input[1], input[2], spec.block, spec.stride};
}

Spec SpecOf(const WindowCase& shape) {
  Spec spec;
  spec.input.dtype = spec.weight.dtype = spec.output.dtype = ACL_FLOAT16;
  Resize(&spec, shape);
  return spec;
}

/// 1 + 2 windows.
WindowCase GoodShape() { return {"", kEdge, {32, 80}, 80, 2, 16, 32, 16}; }
Spec GoodSpec() { return SpecOf(GoodShape()); }

const SpecOperands<Spec> kOperands = {
    {"input", &Spec::input, {ACL_FLOAT16, ACL_BF16}, true},
    {"weight", &Spec::weight, {ACL_FLOAT16, ACL_BF16}, true},
    {"output", &Spec::output, {ACL_FLOAT16, ACL_BF16}, true, true}};

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
  rows->push_back({"layoutOptional value is 'BSND'", "null or 'TND'", 161002,
                   [](Spec* s) { s->layout = "BSND"; }});
  rows->push_back({"actSeqLenType value is 1", "0", 161002, [](Spec* s) { s->type = 1; }});
}

void AddRankAndEmptyRows(std::vector<Row>* rows) {
  AddRows(rows, [](const std::string& name, TensorSpec Spec::*operand) {
    const bool matrix = operand == &Spec::weight;
    return Row{name + " rank is 4 (shape (2, 2, 2, 2))", matrix ? "2" : "3", 161002, [=](Spec* s) {
                 (s->*operand).dims = {2, 2, 2, 2};
               }};
  });
  AddRows(rows, [](const std::string& name, TensorSpec Spec::*operand) {
    const bool matrix = operand == &Spec::weight;
    return Row{name + (matrix ? " shape is (32, 0)" : " shape is (80, 2, 0)"), "elements", 161002,
               [=](Spec* s) {
                 (s->*operand).dims = matrix ? Dims{32, 0} : Dims{80, 2, 0};
               }};
  });
}

void AddValueRows(std::vector<Row>* rows) {
  const std::string list = "actSeqLenOptional value ";
  for (Row& row : std::vector<Row>{
           {"compressStride value is 0", "more than 0", 161002, [](Spec* s) { s->stride = 0; }},
           {"compressBlockSize value is 7", "at least 8 with compressStride 8", 161002,
            [](Spec* s) {
              s->stride = 8;
              s->block = 7;
            }},
           {"weight shape is (48, 2)", "(32, 2)", 161002,
            [](Spec* s) {
              s->weight.dims = {48, 2};
            }},
           {"actSeqLenOptional value is null", "the ends of the segments", 161002,
            [](Spec* s) { s->list.given = IntListSpec::kNull; }},
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
           {"output shape is (9, 2, 16)", "(3, 2, 16)", 161002,
            [](Spec* s) {
              s->output.dims = {9, 2, 16};
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

TEST(NsaCompressChecks, EachRow) {
  const Device device;
  std::vector<Row> rows = AllRows();
  for (const SpecOperand<Spec>& operand : kOperands) {
    if (operand.member == &Spec::input) continue;
    rows.push_back({std::string(operand.name) + " dtype is BFLOAT16", "that of input, FLOAT16",
                    161002, [&](Spec* s) { (s->*operand.member).dtype = ACL_BF16; }});
  }
  rows.push_back({"weight dtype is FLOAT16", "that of input, BFLOAT16", 161002,
                  [](Spec* s) { s->input.dtype = ACL_BF16; }});
  ExpectEachRow(kApi, GoodSpec(), rows);
}

TEST(NsaCompressChecks, EarlierRowWins) {
  const Device device;
  ExpectEarlierWins(kApi, GoodSpec(), AllRows());
}

TEST(NsaCompressChecks, ProductComesAfterNulls) {
  ExpectProductComesAfterNulls(kApi, GoodSpec(), AllRows(), "Ascend910_9391", "A3", "A2");
  ExpectProductComesAfterNulls(kApi, GoodSpec(), AllRows(), "Ascend310P3", "310P", "A2");
}

TEST(NsaCompressChecks, EveryProductOperandAndType) {
  ExpectTypesAreChecked(kApi, GoodSpec(), kOperands, {Family::kA2});
}

TEST(NsaCompressChecks, HandlesFormatsAndSizes) {
  const Device device;
  ExpectHandlesAreChecked(kApi, GoodSpec(), kOperands);
  ExpectNumbersAreChecked(GoodSpec(), kOperands);
  ExpectSizesAreChecked(GoodSpec(), kOperands);
}

TEST(NsaCompressChecks, EveryRank) {
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

TEST(NsaCompressChecks, Layout) {
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

TEST(NsaCompressChecks, ActSeqLenType) {
  const Device device;
  for (const int64_t type :
       {int64_t{-1}, int64_t{1}, int64_t{2}, INT64_MAX, INT64_MIN, int64_t{1} << 32}) {
    Spec spec = GoodSpec();
    spec.type = type;
    ExpectRefused(Plan(spec), kApi, 161002, "actSeqLenType value is " + std::to_string(type), "0");
  }
}

TEST(NsaCompressChecks, ListsThatAreNone) {
  const Device device;
  Spec spec = GoodSpec();
  const std::string name = "actSeqLenOptional value is ";
  spec.list.given = IntListSpec::kForeign;
  ExpectRefused(Plan(spec), kApi, 161002, name + "not the handle of an array", "a live array");
  spec.list.given = IntListSpec::kDestroyed;
  ExpectRefused(Plan(spec), kApi, 161002, name + "a handle that was destroyed", "a live array");
  spec.list.given = IntListSpec::kNull;
  ExpectRefused(Plan(spec), kApi, 161002, name + "null", "the ends of the segments");
  // Empty: one segment, of 4 windows.
  spec.list = {};
  ExpectRefused(Plan(spec), kApi, 161002, "output shape is (3, 2, 16)", "(4, 2, 16)");
  spec.output.dims[0] = 4;
  EXPECT_EQ(Plan(spec).outcome().message, "");
}

TEST(NsaCompressChecks, Lists) {
  const Device device;
  const auto code = [](const Dims& ends, int64_t windows) {
    Spec spec = GoodSpec();
    spec.list.values = ends;
    spec.output.dims[0] = windows;
    return Plan(spec).outcome().code;
  };
  EXPECT_EQ(code({80}, 4), 0);
  EXPECT_EQ(code({0, 80}, 4), 0);
  EXPECT_EQ(code({0, 0, 0, 32, 32, 80, 80}, 3), 0);
  EXPECT_EQ(code({80, 80}, 4), 0);
  EXPECT_EQ(code({31, 80}, 2), 0);
  EXPECT_EQ(code({31, 62, 80}, 1), 161002) << "no window is an empty output";
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

TEST(NsaCompressChecks, BlocksAndStrides) {
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
  EXPECT_EQ(agreeing(32, 32), 0);
  EXPECT_EQ(agreeing(16, 16), 0);
  EXPECT_EQ(agreeing(128, 128), 0);
  EXPECT_EQ(agreeing(16, 32), 161002);
  EXPECT_EQ(agreeing(33, 16), 561002);
  EXPECT_EQ(agreeing(17, 16), 561002);
  EXPECT_EQ(agreeing(32, 31), 561002);
  EXPECT_EQ(agreeing(32, 1), 561002);
  EXPECT_EQ(agreeing(2, 1), 561002);
  EXPECT_EQ(agreeing(1, 1), 561002);
}

TEST(NsaCompressChecks, LimitsAtTheirBoundary) {
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
  EXPECT_EQ(code(1, 16, 16, 16), 0);
  EXPECT_EQ(code(1, 8, 32, 16), 561002);
}

TEST(NsaCompressChecks, OutputThatOverlapsItself) {
  const Device device;
  for (const Dims& strides : {Dims{0, 16, 1}, Dims{32, 0, 1}, Dims{32, 16, 0}, Dims{32, 8, 1}}) {
    Spec spec = GoodSpec();
    spec.output.strides = strides;
    ExpectRefused(Plan(spec), kApi, 161002, "output strides are (", "elements that do not overlap");
  }
}

TEST(NsaCompressChecks, WorkspaceSize) {
  const Device device;
  EXPECT_EQ(Plan(SpecOf({"", kEdge, {}, 300, 7, 32, 48, 16})).workspace_size(), 4u * 48 * 7);
}

// The work is described by segments, not by windows or tokens.
TEST(NsaCompressChecks, ManyTokensArePlannedAtOnce) {
  const Device device;
  constexpr int64_t kTokens = int64_t{1} << 40;
  Spec spec = GoodSpec();
  spec.list = {{kTokens}, IntListSpec::kList};
  spec.block = 32;
  spec.stride = 16;
  spec.input.dims = {kTokens, 1, 16};
  spec.weight.dims = {32, 1};
  spec.output.dims = {(kTokens - 32) / 16 + 1, 1, 16};
  EXPECT_EQ(Plan(spec).outcome().message, "");
}

}  // namespace
}  // namespace openaclnn::test::nsa_compress
