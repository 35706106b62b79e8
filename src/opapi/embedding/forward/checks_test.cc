// SPDX-License-Identifier: Apache-2.0
// What Embedding refuses: every check, their order, every product and type, misuse in phase 2.
#include "tests/support/checks.h"

#include <gtest/gtest.h>

#include "embedding/forward/test_case.h"
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

std::vector<Row> NullRows() {
  return {
      {"workspaceSize value is null", "", 161001, [](Spec* s) { s->null_workspace_size = true; }},
      {"executor value is null", "", 161001, [](Spec* s) { s->null_executor = true; }},
      {"weight value is null", "a tensor", 161001,
       [](Spec* s) { s->weight.given = TensorSpec::kNull; }},
      {"indices value is null", "a tensor", 161001,
       [](Spec* s) { s->indices.given = TensorSpec::kNull; }},
      {"out value is null", "a tensor", 161001, [](Spec* s) { s->out.given = TensorSpec::kNull; }},
  };
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
  std::vector<Row> rows = NullRows();
  for (Row& row : OperatorRows()) rows.push_back(std::move(row));
  return rows;
}

TEST(EmbeddingChecks, EachRow) {
  const Device device;
  ExpectEachRow(kApi, GoodSpec(), AllRows());
}

TEST(EmbeddingChecks, EarlierRowWins) {
  const Device device;
  ExpectEarlierWins(kApi, GoodSpec(), AllRows());
}

TEST(EmbeddingChecks, ProductComesAfterNulls) {
  const Device device{{"OPENACLNN_SOC", "Ascend310B1"}};
  ExpectRefused(Plan(GoodSpec()), kApi, 561003, "product family is 310B",
                "one of 910, A2, A3, 950 on Ascend310B1");
  for (const Row& row : AllRows()) {
    Spec spec = GoodSpec();
    row.breaks(&spec);
    EXPECT_EQ(Plan(spec).outcome().code, row.code == 161001 ? 161001 : 561003) << row.got;
  }
}

TEST(EmbeddingChecks, EveryProductAndType) {
  for (const ProductEntry& product : kProducts) {
    const Device device{{"OPENACLNN_SOC", product.name}};
    const bool supported = product.family != Family::k310P && product.family != Family::k310B;
    for (const DtypeEntry& dtype : kDtypes) {
      SCOPED_TRACE(std::string(product.name) + " " + dtype.name);
      const size_t bytes = aclDataTypeSize(dtype.type);
      const bool movable = (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
                           !(dtype.type == ACL_BF16 && product.family == Family::k910);
      Spec spec = GoodSpec();
      spec.weight.dtype = spec.out.dtype = dtype.type;
      EXPECT_EQ(Plan(spec).outcome().code, !supported ? 561003 : movable ? 0 : 161002);
      // One of the two alone differs from the other.
      for (TensorSpec Spec::*operand : {&Spec::weight, &Spec::out}) {
        spec = GoodSpec();
        (spec.*operand).dtype = dtype.type;
        EXPECT_EQ(Plan(spec).outcome().code, !supported                ? 561003
                                             : dtype.type == ACL_FLOAT ? 0
                                                                       : 161002);
      }
      spec = GoodSpec();
      spec.indices.dtype = dtype.type;
      EXPECT_EQ(Plan(spec).outcome().code, !supported                          ? 561003
                                           : IsOneOf(dtype.type, kIndexDtypes) ? 0
                                                                               : 161002);
    }
  }
}

TEST(EmbeddingChecks, EveryFormat) {
  const Device device;
  for (int number = -2; number <= 60; ++number) {
    const auto format = static_cast<aclFormat>(number);
    for (TensorSpec Spec::*operand : {&Spec::weight, &Spec::indices, &Spec::out}) {
      Spec spec = GoodSpec();
      (spec.*operand).format = format;
      EXPECT_EQ(Plan(spec).outcome().code, IsOneOf(format, kPlainFormats) ? 0 : 161002) << number;
    }
  }
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

TEST(EmbeddingMisuse, Phase2) {
  const Device device;
  Problem problem({"", kEdge, {60}, 7, 5, kUniformRows}, {});
  const Planned planned = problem.Plan();
  const uint64_t size = planned.workspace_size();
  const DeviceBuffer workspace((size + 63) / 64 * 64);
  const auto run = [&](void* address, uint64_t bytes, aclOpExecutor* executor) {
    return aclnnEmbedding(address, bytes, executor, device.stream());
  };
  EXPECT_EQ(run(workspace.address(), size, nullptr), 161001);
  EXPECT_EQ(run(workspace.address(), size, reinterpret_cast<aclOpExecutor*>(uintptr_t{0x50})),
            561000);
  EXPECT_EQ(run(nullptr, size, planned.executor()), 161001);
  EXPECT_EQ(run(workspace.address(), size - 1, planned.executor()), 161002);
  auto* any = const_cast<aclTensor*>(problem.out.handle());
  std::vector<float> host(1000);
  const DeviceTensor* tensors[] = {&problem.weight, &problem.indices, &problem.out};
  for (size_t operand = 0; operand < 3; ++operand) {
    for (void* address : {static_cast<void*>(nullptr), static_cast<void*>(host.data())}) {
      ASSERT_EQ(aclSetTensorAddr(planned.executor(), operand, any, address), 0);
      EXPECT_EQ(run(workspace.address(), size, planned.executor()),
                address == nullptr ? 161001 : 161002);
    }
    ASSERT_EQ(aclSetTensorAddr(planned.executor(), operand, any, tensors[operand]->data()), 0);
  }
  // The weight inside the output's memory.
  ASSERT_EQ(aclSetTensorAddr(planned.executor(), 0, any, problem.out.data()), 0);
  EXPECT_EQ(run(workspace.address(), size, planned.executor()), 161002);
  ASSERT_EQ(aclSetTensorAddr(planned.executor(), 0, any, problem.weight.data()), 0);
  EXPECT_EQ(problem.out.Change(), "");
  EXPECT_EQ(run(workspace.address(), size, planned.executor()), 0);
  EXPECT_EQ(run(workspace.address(), size, planned.executor()), 561103);
  ASSERT_EQ(device.Synchronize().message, "");
  EXPECT_TRUE(problem.IsRight());
}

}  // namespace
}  // namespace openaclnn::test::embedding::forward
